import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { call, callTools, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const FILES = { "menu.json": '{\n  "open": true\n  "close": false\n}\n' };
const EDIT = call("patch", { path: "menu.json", old_string: '"open": true\n', new_string: '"open": true,\n' });

// The editor's own places for Hermes: quick fixes, the cursor, Source Control.
describe("editor actions", () => {
  let model: ModelServer;
  let window: VSCodeWindow;

  beforeAll(async () => {
    model = await startModelServer();
    window = await VSCodeWindow.open({ name: "editor-actions", files: FILES, model });
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
    await model.stop();
  });

  const { stringify } = JSON;

  test("the quick fix of a problem starts a turn with the problem and its lines", async () => {
    const { keyboard } = window.page;
    await window.runCommand("Go to File...");
    await window.quickInput.locator("input").first().fill("menu.json");
    await window.quickInput.locator(".monaco-list-row", { hasText: "menu.json" }).first().click();
    await window.page.locator(".squiggly-error").first().waitFor();
    await window.runCommand("Go to Next Problem (Error, Warning, Info)");
    model.script(say("A comma is missing."));
    const fix = window.page.locator(".action-widget").getByText("Fix with Hermes");
    // The list of quick fixes takes up no extension that is activated later, and closes with what else the editor opens.
    await vi.waitFor(
      async () => {
        await keyboard.press("Escape");
        await keyboard.press("Control+.");
        await fix.click({ timeout: 4_000 });
      },
      { timeout: 40_000 },
    );
    await window.panel.getByText("A comma is missing.", { exact: true }).waitFor();
    const asked = stringify(model.requests.at(-1)?.body.messages.at(-1));
    expect(asked).toMatch(
      /"Fix menu\.json:3 {2}\\n\\nFix what is reported below.*menu\.json:3:\d+: error: .*open.*close/s,
    );
  });

  test("an instruction at the cursor becomes an edit under review, with the answer and a field for more at the line", async () => {
    const { keyboard } = window.page;
    const thread = window.page.locator(".review-widget");
    const focusedField = thread.locator(".monaco-editor.focused");
    await window.runCommand("View: Focus Active Editor Group");
    await keyboard.press("Control+Alt+J");
    await focusedField.waitFor();
    model.script(callTools(EDIT), say("Added the comma."));
    await keyboard.type("Add the comma");
    await keyboard.press("Enter");
    await thread.getByText("Added the comma.", { exact: true }).waitFor();
    expect(window.readFile("menu.json")).toContain('"open": true,\n');
    expect(await window.page.locator(".comments-panel").count()).toBe(0);
    await window.panel.locator(".background-line").waitFor({ state: "detached" });
    await window.pictures("edit-at-cursor", ["light", "dark", "high-contrast"]);
    await thread.getByRole("button", { name: "Follow up…" }).click();
    await focusedField.waitFor();
    model.script(say("It separates the entries."));
    await keyboard.type("Why?");
    await keyboard.press("Enter");
    await thread.getByText("It separates the entries.", { exact: true }).waitFor();
    expect(stringify(model.requests.at(-1)?.body.messages)).toContain("Added the comma.");
    await window.lens("Keep").first().click();
    await thread.waitFor({ state: "detached" });
  });

  test("the button in Source Control writes the commit message", async () => {
    const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: window.workspace });
    git("init", "-q");
    git("add", ".");
    await window.runCommand("Source Control: Focus on Changes View");
    model.script(say("Separate the entries of the menu"));
    // The buttons of a section are there while the pointer or the focus is in it.
    await window.page.locator(".pane-header", { hasText: "Changes" }).first().hover();
    await window.page.getByRole("button", { name: "Write Commit Message" }).click();
    await window.page.locator(".scm-editor", { hasText: "Separate the entries of the menu" }).waitFor();
    expect(stringify(model.requests.at(-1)?.body.messages)).toContain("diff --git a/menu.json b/menu.json");
  });

  test("a diagram of an answer is drawn in VS Code's preview of Markdown", async () => {
    model.script(say("The order:\n\n```mermaid\ngraph TD\n  A[Order] --> B[Bill]\n```\n"));
    await window.newSession();
    await window.send("Draw the order");
    await window.panel.getByRole("button", { name: "Show Diagram" }).click();
    const drawn = async (): Promise<boolean> => {
      const counts = window.page.frames().map((frame) => frame.locator("svg", { hasText: "Bill" }).count());
      return (await Promise.all(counts.map((count) => count.catch(() => 0)))).some((count) => count > 0);
    };
    await expect.poll(drawn).toBe(true);
    await window.pictures("diagram", ["light", "dark", "high-contrast"]);
  });

  test("a command that needs a password gets it from a masked box of VS Code, and the model does not", async () => {
    const command = 'given=$("$SUDO_ASKPASS" "[sudo] password for ada: "); echo "granted ${#given}"';
    model.script({ parts: [call("terminal", { command, unsandboxed: true })] }, say("It ran."));
    await window.newSession();
    await window.send("Run it");
    await window.panel.getByRole("alertdialog").getByRole("button", { name: "Allow Once" }).click();
    const box = window.quickInput.locator('input[type="password"]');
    await box.waitFor();
    await window.picture("password");
    await box.fill("open sesame");
    await box.press("Enter");
    await window.panel.getByText("It ran.", { exact: true }).waitFor();
    const sent = stringify(model.requests.map(({ body }) => body.messages));
    expect(sent).toContain("granted 11");
    expect(sent).not.toContain("open sesame");
  });
});
