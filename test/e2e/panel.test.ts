import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeLongSession } from "../support/long-session.ts";
import { TOO_WIDE } from "../support/panel/too-wide.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const MESSAGES = 700;
const QUESTIONS = MESSAGES / 4;

// The panel has its own tests in test/panel. Here is what VS Code adds: its palette, its side bar, its clipboard, and
// its reload of a window.
describe("the panel in VS Code", () => {
  let window: VSCodeWindow;

  beforeAll(async () => {
    window = await VSCodeWindow.open({ name: "panel" });
    writeLongSession({ home: window.home, cwd: window.workspace, id: "20261101_120000_cccccccc", messages: MESSAGES });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
  });

  const queue = () => window.panel.getByRole("list", { name: "Queued messages" });
  const page = () => window.panel.getByRole("region", { name: "Sessions", exact: true });
  const names = () => page().locator(".history-title").allTextContents();
  const bubbles = () => window.panel.locator(".user .bubble").allTextContents();
  const summary = () => window.panel.getByRole("button", { name: /messages summarised/ });
  const idle = () => window.panel.locator('.send-button[aria-label="Stop"]').waitFor({ state: "detached" });

  test("a message typed while a turn runs is queued visibly, and sent into the turn", async () => {
    await window.send("run until test -e go; do sleep 0.1; done");
    await window.toolCalls("in_progress").last().waitFor();
    await window.send("list the files");
    await queue().getByText("list the files").waitFor();
    await queue().getByRole("button", { name: "Send Queued Message Now" }).click();
    writeFileSync(join(window.workspace, "go"), "");
    await queue().waitFor({ state: "detached" });
    await expect.poll(bubbles).toContain("list the files");
    await idle();
  });

  test("a summary of older messages is folded", async () => {
    for (const prompt of ["read a.txt", "list the files", "search two", "read a.txt"]) {
      await window.send(prompt);
      await idle();
    }
    await window.send("/compress");
    await summary().waitFor();
    await expect.poll(bubbles).not.toContain("search two");
  });

  test("a session moves into an editor tab, returns there after a reload of the window, and moves back", async () => {
    const tab = window.page
      .frameLocator('iframe.webview[src*="extensionId=hermes-agent.hermes-vscode"]:not([src*="purpose=webviewView"])')
      .frameLocator("#active-frame");
    const field = tab.getByRole("textbox", { name: "Message Hermes" });
    await window.composer.fill("not sent yet");
    await window.runCommand("Hermes: Open Session in Editor Tab");
    await expect.poll(() => field.inputValue()).toBe("not sent yet");
    await tab.getByRole("button", { name: /messages summarised/ }).waitFor();
    await window.stored(/hermes\.session.*sessionId/);
    await window.reload();
    await tab.getByRole("button", { name: /messages summarised/ }).waitFor();
    await field.click();
    await window.runCommand("Hermes: Move to Side Bar");
    await window.page.locator(".tab.active").waitFor({ state: "detached" });
    await summary().waitFor();
    await expect.poll(() => window.composer.inputValue()).toBe("not sent yet");
    await window.composer.fill("");
  });

  test("the palette opens the sessions with the focus in the search field, and Escape returns", async () => {
    await window.runCommand("Hermes: Show Sessions");
    await expect.poll(async () => (await names()).length).toBe(2);
    await expect.poll(() => window.panel.locator("input[type=search]:focus").count()).toBe(1);
    await window.page.keyboard.press("ArrowDown");
    await window.panel.locator(".history-name:focus").waitFor();
    await window.page.keyboard.press("Escape");
    await page().waitFor({ state: "detached" });
  });

  test("Ctrl+F in the panel searches the conversation, and leaves the search of an open file alone", async () => {
    await window.send("read a.txt");
    await idle();
    await window.page.keyboard.press("Control+p");
    await window.quickInput.locator("input").first().fill("a.txt");
    await window.quickInput.locator(".monaco-list-row", { hasText: "a.txt" }).first().click();
    await window.editor.locator(".view-line").first().waitFor();
    await window.openPanel();
    await window.composer.press("Control+f");
    const field = window.panel.locator(".find-bar input");
    await field.waitFor();
    await window.page.keyboard.type("two");
    await expect.poll(() => field.inputValue()).toBe("two");
    expect(await window.editor.locator(".find-widget.visible").count()).toBe(0);
    await field.press("Escape");
    await window.runCommand("View: Close All Editors");
  });

  test("the user exports a session into a file", async () => {
    await window.runCommand("Hermes: Export Session…");
    await window.quickInput.getByText("Markdown", { exact: true }).click();
    const field = window.quickInput.locator("input").first();
    await expect.poll(() => field.inputValue()).toContain(".md");
    await field.press("Enter");
    await window.page.locator(".tab.active", { hasText: ".md" }).first().waitFor();
    await window.runCommand("View: Close All Editors");
  });

  test("a long session opens at its end, at the width of a narrow side bar", async () => {
    await window.runCommand("Hermes: Show Sessions");
    await window.panel.locator(".history-name", { hasText: "A long session" }).click();
    await window.panel.locator(".row", { hasText: `Answer ${QUESTIONS}:` }).waitFor();
    await window.setSideBarWidth(200);
    expect(await window.panel.locator("body").evaluate(TOO_WIDE)).toEqual([]);
    await window.setSideBarWidth(320);
    await window.panel.getByRole("button", { name: /earlier message/i }).press("Enter");
    await expect
      .poll(() => window.panel.getByRole("button", { name: /earlier message/i }).textContent())
      .not.toContain("250");
  });

  test("a selection in the conversation reaches VS Code's clipboard", async () => {
    const last = window.panel.locator(".user .bubble").last();
    await last.click({ position: { x: 12, y: 12 } });
    await window.page.keyboard.press("ControlOrMeta+a");
    await window.page.keyboard.press("ControlOrMeta+c");
    await window.composer.focus();
    await window.page.keyboard.press("ControlOrMeta+v");
    // A long pasted text is a chip at first.
    await window.panel.getByRole("button", { name: "Insert as Text Instead" }).click();
    await expect.poll(() => window.composer.inputValue()).toContain(`Answer ${QUESTIONS}:`);
    await window.composer.fill("");
  });

  test("a hidden side bar shows everything again, with the typed text", async () => {
    await window.runCommand("Hermes: New Session");
    await expect.poll(bubbles).toEqual([]);
    await window.send("search two");
    await idle();
    await window.composer.fill("read a.txt");
    await window.runCommand("View: Toggle Secondary Side Bar Visibility");
    await window.composer.waitFor({ state: "detached" });
    await window.openPanel();
    await expect.poll(() => window.composer.inputValue()).toBe("read a.txt");
    await expect.poll(bubbles).toEqual(["search two"]);
  });
});
