import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const ASKER = 'printf "Your name? "; read -r name; echo "Hello, $name."; printf "Password: "; read -r secret; exit 3';

// The strip of background processes has its own tests in test/panel; here its commands are in terminals of VS Code.
describe("background processes in VS Code", () => {
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

  test("a terminal of VS Code shows what was typed in the panel, but no secret", async () => {
    const row = window.panel.locator('[data-process="p1"]');
    model.script({ parts: [call("terminal", { command: ASKER, background: true })] }, say("It runs."));
    await window.send("start it");
    await window.panel.getByRole("button", { name: "Reply" }).click();
    await row.getByRole("textbox").fill("Ada");
    await row.getByRole("textbox").press("Enter");
    await row.locator(".terminal-output").getByText("Hello, Ada.").waitFor();
    const secret = row.locator('input[type="password"]');
    await secret.fill("hush");
    await secret.press("Enter");
    await row.getByText("exit code 3").first().waitFor();
    await row.getByRole("button", { name: "Show terminal" }).click();
    await expect.poll(() => window.terminal.textContent()).toContain("Password:");
    const text = await window.terminal.textContent();
    expect(text).toContain("Your name?");
    expect(text).toContain("Ada");
    expect(text).not.toContain("hush");
  });
});
