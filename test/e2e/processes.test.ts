import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

// What runs in the background: in sight above the composer, answered, and stopped there.
describe("background processes in the panel", () => {
  let window: VSCodeWindow;
  let model: ModelServer;

  beforeAll(async () => {
    model = await startModelServer();
    window = await VSCodeWindow.open({ name: "processes", model });
    await window.openPanel();
    await window.panel.getByRole("combobox", { name: "Mode" }).selectOption("auto");
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
    await model.stop();
  });

  const strip = () => window.panel.getByRole("region", { name: "Background processes" });
  const head = () => strip().getByRole("button").first();
  const row = (id: string) => strip().locator(`[data-process="${id}"]`);
  const focused = () => window.panel.locator(":focus").getAttribute("aria-label");
  const pictures = async (name: string): Promise<void> => {
    for (const theme of ["light", "dark"] as const) {
      await window.setTheme(theme);
      await window.setSideBarWidth(320);
      await window.screenshot(name);
    }
  };
  const runInBackground = async (...commands: readonly string[]): Promise<void> => {
    const parts = commands.map((command) => call("terminal", { command, background: true }));
    model.script({ parts }, say("It runs."));
    await window.send("start it");
    await window.panel.locator('.send-button[aria-label="Stop"]').waitFor({ state: "detached" });
  };

  const SERVER = "echo 'ready on port 8080'; tail -f /dev/null";
  const ASKER = 'printf "Your name? "; read -r name; echo "Hello, $name."; printf "Password: "; read -r secret; exit 3';

  test("one is a folded line with what it printed last, and opens to its output", async () => {
    await runInBackground(SERVER);
    await strip().locator(".process-beside").getByText("ready on port 8080", { exact: true }).waitFor();
    expect(await head().getAttribute("aria-expanded")).toBe("false");
    await pictures("processes-folded");
    await head().click();
    await row("p1").locator(".terminal-output").getByText("ready on port 8080").waitFor();
    await pictures("processes-open");
  });

  test("one that waits for input is noticed, and answered in its own line", async () => {
    await head().click();
    await runInBackground(ASKER);
    await strip()
      .getByText(/^Waits for input: printf/)
      .waitFor();
    await pictures("processes-waiting");
    await strip().getByRole("button", { name: "Reply" }).click();
    await expect.poll(focused).toBe(`Input for ${ASKER}`);
    await window.page.keyboard.type("Ada");
    await pictures("processes-reply");
    await row("p2").getByRole("textbox").press("Enter");
    await row("p2").locator(".terminal-output").getByText("Hello, Ada.").waitFor();
    const secret = row("p2").locator('input[type="password"]');
    await secret.fill("hush");
    await secret.press("Enter");
    await expect.poll(() => row("p2").getAttribute("data-state")).toBe("ended");
    await row("p2").getByText("exit code 3").first().waitFor();
    expect(await row("p2").locator("input").count()).toBe(0);
  });

  test("its terminal shows what was typed, but no secret", async () => {
    await row("p2").getByRole("button", { name: "Show terminal" }).click();
    await expect.poll(() => window.terminal.textContent()).toContain("Password:");
    const text = await window.terminal.textContent();
    expect(text).toContain("Your name?");
    expect(text).toContain("Ada");
    expect(text).not.toContain("hush");
    await window.runCommand("View: Toggle Panel Visibility");
  });

  test("the keyboard alone stops one, and stays in its row", async () => {
    await row("p1").getByRole("button", { name: /^Stop/ }).press("Enter");
    await expect.poll(() => row("p1").getAttribute("data-state")).toBe("ended");
    await row("p1").getByText("ended by signal SIGTERM, stopped by the user").first().waitFor();
    await expect.poll(() => window.panel.locator(":focus").getAttribute("title")).toBe(SERVER);
    await pictures("processes-ended");
  });

  test("the agent hears of all that with the next message, and the strip is gone", async () => {
    model.script(say("I see."));
    await window.send("and now?");
    await strip().waitFor({ state: "detached" });
    const messages = JSON.stringify(model.requests.at(-1)?.body.messages);
    expect(messages).toContain("[the user has typed into p2]");
    expect(messages).toContain("[p2 has ended: exit code 3");
    expect(messages).toContain("stopped by the user");
    expect(messages).not.toContain("hush");
  });
});
