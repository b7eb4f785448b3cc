import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allowClipboard } from "../support/shared-browser.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const PROMPT = "replace two with TWO in a.txt then run cat a.txt";
const EDITED = "one\nTWO\nthree\n";
const ORIGINAL = "one\ntwo\nthree\n";
const FILES = { "a.txt": ORIGINAL, "settings.json": '{\n  "name": "demo",\n  "port": 80\n}\n' };

// One conversation, in the order in which a person has it.
describe("the main job, in the packaged extension without key or network", () => {
  let window: VSCodeWindow;

  beforeAll(async () => {
    window = await VSCodeWindow.open({ name: "main-job", files: FILES });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
  });

  test("types the prompt and sees it in the conversation", async () => {
    await window.send(PROMPT);
    await window.panel.getByText(PROMPT).first().waitFor();
    await expect.poll(() => window.composer.inputValue()).toBe("");
  });

  test("finds the edit on disk", async () => {
    await expect.poll(() => window.readFile("a.txt")).toBe(EDITED);
  });

  test("sees a card for the edit and one for the command, both completed", async () => {
    await expect.poll(() => window.toolCalls("completed").count()).toBe(2);
    expect(await window.toolCalls().count()).toBe(2);
    await window.toolCalls("completed").filter({ hasText: "a.txt" }).first().waitFor();
    await window.toolCalls("completed").filter({ hasText: "cat a.txt" }).waitFor();
  });

  test("sees the command's output in a terminal of VS Code", async () => {
    await window.runCommand("Terminal: Focus Terminal");
    await expect.poll(() => window.terminal.textContent()).toMatch(/one\s*TWO\s*three/);
    await window.pictures("main-job", ["light", "dark", "high-contrast"]);
  });

  test("attaches the output of the terminal, without a warning that nothing is selected", async () => {
    await allowClipboard(window.page);
    await window.runCommand("Hermes: Add Terminal to Hermes");
    await window.panel.getByRole("button", { name: "Remove Terminal: Hermes: cat a.txt" }).click();
    expect(await window.page.locator(".notification-toast").allTextContents()).toEqual([]);
  });

  test("sees the edit as a diff and undoes its hunk", async () => {
    await window.runCommand("Hermes: Review Edits");
    await window.diffEditor.waitFor();
    await expect.poll(() => window.diffEditor.textContent()).toContain("TWO");
    await window.pictures("review");
    await window.runCommand("Hermes: Undo Hunk");
    await expect.poll(() => window.readFile("a.txt")).toBe(ORIGINAL);
    await window.keepButton.waitFor({ state: "detached" });
  });

  test("asks again in a new session, keeps the hunk, and nothing is left to review", async () => {
    await window.runCommand("Hermes: New Session");
    await window.toolCalls().first().waitFor({ state: "detached" });
    await window.send(PROMPT);
    await window.keepButton.waitFor();
    await expect.poll(() => window.readFile("a.txt")).toBe(EDITED);
    await window.runCommand("Hermes: Review Edits");
    // The diff takes the focus when it opens, and with it closes a palette that was opened before.
    await window.page.locator(".tab.active", { hasText: "(Hermes)" }).waitFor();
    await window.diffEditor.waitFor();
    await window.runCommand("Hermes: Keep Hunk");
    await window.keepButton.waitFor({ state: "detached" });
    expect(window.readFile("a.txt")).toBe(EDITED);
  });

  const problems = () => window.panel.locator(".tool-card").last().locator(".problem");

  // VS Code's own language servers find the problems.
  test("the card of an edit that breaks a file lists the new problems", async () => {
    await window.newSession();
    await window.send(`replace '"port": 80' with '"port" 80' in settings.json`);
    await problems().first().waitFor();
    expect(await problems().first().textContent()).toMatch(/settings\.json:3:\d+.*[Cc]olon expected/s);
    await window.pictures("problems");
  });

  test("the card of an edit that fixes the file lists none", async () => {
    await window.send(`replace '"port" 80' with '"port": 80' in settings.json`);
    await window.panel.locator(".tool-card[data-status=completed]").nth(1).waitFor();
    expect(await problems().count()).toBe(0);
  });
});
