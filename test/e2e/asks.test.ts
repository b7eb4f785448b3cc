import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

// Requests to the user, and their end through a stop or a restart. While the user types in a text editor with the real
// keyboard, no key is lost, and no key answers.
describe("permissions, questions, stop and restart", () => {
  let window: VSCodeWindow;

  beforeAll(async () => {
    window = await VSCodeWindow.open({ name: "asks", files: { "a.txt": "one\n", "notes.md": "" } });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
  });

  const card = () => window.panel.getByRole("alertdialog");
  const notice = (text: string) => window.notifications.filter({ hasText: text });

  /** Shows notes.md, empties it, and leaves the caret in it. */
  const openNotes = async (): Promise<void> => {
    await window.openFile("notes.md");
    await window.page.keyboard.press("Control+A");
    await window.page.keyboard.press("Delete");
  };
  /** Types numbered words until `done` and a little longer, saves the file, and returns the text that was typed. */
  const typeUntil = async (done: () => Promise<boolean>): Promise<string> => {
    let typed = "";
    for (let count = 0, rest = 8; rest > 0; count += 1) {
      if (count > 400) throw new Error("The agent did nothing while the user typed.");
      await window.page.keyboard.type(`g${count} `);
      typed += `g${count} `;
      if (await done()) rest -= 1;
    }
    await window.page.keyboard.press("Enter");
    await window.page.keyboard.press("Control+S");
    return `${typed}\n`;
  };
  const savedNotes = () => window.readFile("notes.md");

  test("an edit of another file and a question take neither tab nor keys, and typing does not answer", async () => {
    const steps = "replace one with ONE in a.txt then ask me Drop the table? choices Yes or No";
    await window.send(`run until test -e go; do sleep 0.1; done then ${steps}`);
    await window.toolCalls("in_progress").first().waitFor();
    await openNotes();
    writeFileSync(join(window.workspace, "go"), "");
    const typed = await typeUntil(async () => card().isVisible());
    await expect.poll(savedNotes).toBe(typed);
    expect(await window.page.locator(".tab.active").textContent()).toContain("notes.md");
    expect([await card().isVisible(), await window.quickInput.isVisible()]).toEqual([true, false]);
    await window.keepButton.waitFor();
    await card().getByRole("button", { name: "No" }).click();
    await window.panel.getByText("The user answered: No").first().waitFor();
  });

  test("a question behind a hidden panel is a notification without focus, whose button opens the card", async () => {
    await window.send("run until test -e hide; do sleep 0.1; done then ask me Which table? choices Users or Orders");
    await window.toolCalls("in_progress").first().waitFor();
    await openNotes();
    await window.runCommand("View: Hide Secondary Side Bar");
    await window.page.locator(".monaco-editor .view-lines").first().click();
    writeFileSync(join(window.workspace, "hide"), "");
    const typed = await typeUntil(async () => notice("Hermes has a question.").isVisible());
    await expect.poll(savedNotes).toBe(typed);
    await notice("Hermes has a question.").getByRole("button", { name: "Show Question" }).click();
    await card().getByRole("button", { name: "Orders" }).click();
    await window.panel.getByText("The user answered: Orders").first().waitFor();
    await notice("Hermes has a question.").waitFor({ state: "detached" });
  });

  test("a risky command asks in the visible panel only; the card's answer runs it", async () => {
    await window.newSession();
    await window.send("run rm a.txt");
    await card()
      .locator("pre", { hasText: /^rm a\.txt$/ })
      .waitFor();
    await window.pictures("permission");
    expect(await window.notifications.count()).toBe(0);
    await card().getByRole("button", { name: "Allow Once" }).click();
    await expect.poll(() => window.hasFile("a.txt")).toBe(false);
    await card().waitFor({ state: "detached" });
  });

  test("always adds a row to the settings, which holds until the user removes it", async () => {
    const make = (): void => writeFileSync(join(window.workspace, "c.txt"), "");
    const isGone = () => expect.poll(() => window.hasFile("c.txt")).toBe(false);
    make();
    await window.send("run rm c.txt");
    await card().getByRole("button", { name: "Always allow" }).click();
    await isGone();
    make();
    await window.send("run rm c.txt");
    await isGone();
    expect(await card().count()).toBe(0);
    const row = `rm c.txt in ${realpathSync(window.workspace)}`;
    await window.runCommand("Hermes: Manage Grants…");
    await window.quickInput.getByText(row).waitFor();
    await window.quickInput.getByRole("button", { name: "Edit the List in the Settings" }).click();
    const setting = window.page.locator(".settings-editor .setting-item-contents", { hasText: "Commands: Allow" });
    await setting.getByText(row).waitFor();
    await window.picture("allow-list");
    await setting.getByText(row).hover();
    await setting.getByRole("button", { name: "Remove Item" }).click();
    await window.runCommand("View: Close Editor");
    make();
    await window.send("run rm c.txt");
    await card().getByRole("button", { name: "Reject" }).click();
    await card().waitFor({ state: "detached" });
    expect(window.hasFile("c.txt")).toBe(true);
  });

  test("a rejection's reason reaches the agent", async () => {
    await window.send("run rm -r src");
    await card().getByRole("button", { name: "No, Because…" }).click();
    await card().getByLabel("Why not").fill("keep it");
    await card().getByRole("button", { name: "Send" }).click();
    await window.panel.getByText("the user said no: keep it").first().waitFor();
  });

  test("a question is a card with choices and free text", async () => {
    await window.send("ask me which colour? choices red, green or blue");
    await card().getByText("green", { exact: true }).waitFor();
    await window.pictures("question");
    await card().getByLabel("Your answer").fill("violet");
    await card().getByRole("button", { name: "Answer" }).click();
    await window.panel.getByText("The user answered: violet").first().waitFor();
  });

  test("stop ends a running command, and the next message is answered", async () => {
    await window.send("run sleep 300 | cat");
    await window.toolCalls("in_progress").first().waitFor();
    await window.panel.getByRole("button", { name: "Stop" }).click();
    await window.panel.getByText("Stopped").first().waitFor();
    await window.send("create b.txt with hello");
    await expect.poll(() => window.hasFile("b.txt")).toBe(true);
  });

  test("a restarted agent continues the session", async () => {
    await window.runCommand("Hermes: Restart Agent");
    await window.panel.getByText("create b.txt with hello").first().waitFor();
    await window.composer.waitFor();
    await window.send("read b.txt");
    await expect.poll(() => window.panel.getByText("1|hello").count()).toBeGreaterThan(0);
  });
});
