import { beforeAll, describe, expect, test } from "vitest";
import { call, say } from "../support/model-server/model-server.ts";
import { openPanel, useModelServer, usePanel } from "../support/panel/open-panel.ts";

// Background processes above the composer: shown, given input, and stopped.
describe("background processes in the panel", () => {
  const model = useModelServer();
  const panel = usePanel(() => openPanel({ model: model() }));

  beforeAll(async () => {
    await panel().page.getByRole("combobox", { name: "Mode" }).selectOption("auto");
  });

  const strip = () => panel().page.getByRole("region", { name: "Background processes" });
  const head = () => strip().getByRole("button").first();
  const row = (id: string) => strip().locator(`[data-process="${id}"]`);
  const focused = () => panel().page.locator(":focus").getAttribute("aria-label");
  const runInBackground = async (...commands: readonly string[]): Promise<void> => {
    const parts = commands.map((command) => call("terminal", { command, background: true }));
    model().script({ parts }, say("It runs."));
    await panel().send("start it");
    await panel().idle();
  };

  const SERVER = "echo 'ready on port 8080'; tail -f /dev/null";
  const ASKER = 'printf "Your name? "; read -r name; echo "Hello, $name."; printf "Password: "; read -r secret; exit 3';

  test("a process is one line with its last output, and unfolds to all of it", async () => {
    await runInBackground(SERVER);
    await strip().locator(".process-beside").getByText("ready on port 8080", { exact: true }).waitFor();
    expect(await head().getAttribute("aria-expanded")).toBe("false");
    await panel().pictures("processes-folded");
    await head().click();
    await row("p1").locator(".terminal-output").getByText("ready on port 8080").waitFor();
    await panel().pictures("processes-open");
  });

  test("a process that waits for input is marked, and takes the input in its row", async () => {
    await head().click();
    await runInBackground(ASKER);
    await strip()
      .getByText(/^Waits for input: printf/)
      .waitFor();
    await panel().pictures("processes-waiting");
    await strip().getByRole("button", { name: "Reply" }).click();
    await expect.poll(focused).toBe(`Input for ${ASKER}`);
    await panel().page.keyboard.type("Ada");
    await panel().pictures("processes-reply");
    await row("p2").getByRole("textbox").press("Enter");
    await row("p2").locator(".terminal-output").getByText("Hello, Ada.").waitFor();
    const secret = row("p2").locator('input[type="password"]');
    await secret.fill("hush");
    await secret.press("Enter");
    await expect.poll(() => row("p2").getAttribute("data-state")).toBe("ended");
    await row("p2").getByText("exit code 3").first().waitFor();
    expect(await row("p2").locator("input").count()).toBe(0);
  });

  test("a process is stopped by keyboard alone, and the focus stays in its row", async () => {
    await row("p1").getByRole("button", { name: /^Stop/ }).press("Enter");
    await expect.poll(() => row("p1").getAttribute("data-state")).toBe("ended");
    await row("p1").getByText("ended by signal SIGTERM, stopped by the user").first().waitFor();
    await expect.poll(() => panel().page.locator(":focus").getAttribute("title")).toBe(SERVER);
    await panel().pictures("processes-ended");
  });

  test("the next message reports all this to the agent, and the strip disappears", async () => {
    model().script(say("I see."));
    await panel().send("and now?");
    await strip().waitFor({ state: "detached" });
    const messages = JSON.stringify(model().requests.at(-1)?.body.messages);
    expect(messages).toContain("[the user has typed into p2]");
    expect(messages).toContain("[p2 has ended: exit code 3");
    expect(messages).toContain("stopped by the user");
    expect(messages).not.toContain("hush");
  });
});
