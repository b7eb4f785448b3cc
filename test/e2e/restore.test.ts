import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const FILES = { "a.txt": "one\ntwo\nthree\n", "b.txt": "b\n" };

// Going back to an earlier message from the panel: first what it would do, then files, conversation or both.
describe("restore to here", () => {
  let window: VSCodeWindow;

  beforeAll(async () => {
    window = await VSCodeWindow.open({ name: "restore", files: FILES });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
  });

  const card = () => window.panel.getByRole("region", { name: "Restore to Here" });
  const bubbles = () => window.panel.locator(".user .bubble").allTextContents();
  const line = (text: string) => window.panel.locator(".restore-line", { hasText: text });
  const files = () => card().getByRole("listitem").allInnerTexts();
  const say = async (text: string): Promise<void> => {
    await window.send(text);
    await window.panel.getByText(text).last().waitFor();
    await window.panel.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  };
  const openCard = async (message: number): Promise<void> => {
    await window.panel.locator(".user").nth(message).hover();
    await window.panel.getByRole("button", { name: "Restore to Here" }).nth(message).click();
    await card().waitFor();
  };

  test("the card lists the effect on each file, and closes with Escape", async () => {
    await say('replace "one" with "ONE" in a.txt');
    await say('create made.txt with "made by the agent"');
    await say('replace "b" with "B" in b.txt');
    writeFileSync(join(window.workspace, "b.txt"), "B and mine\n");
    await openCard(0);
    const lines = (await files()).map((line) => line.replace(/\s+/g, " "));
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain("b.txt Skipped: you changed it since"); // skipped files come first
    expect(lines[1]).toContain("a.txt");
    await window.pictures("restore-card");
    await card().getByRole("button", { name: "Cancel" }).press("Escape");
    await card().waitFor({ state: "detached" });
    expect(window.readFile("a.txt")).toBe("ONE\ntwo\nthree\n");
  });

  test("the changes are shown in the editor before the restore", async () => {
    await openCard(0);
    await card().getByRole("button", { name: "Show Changes" }).click();
    await window.page.locator(".tab", { hasText: "Restore" }).first().waitFor();
    await window.pictures("restore-changes");
    await window.runCommand("View: Close All Editors");
  });

  test("files are restored, a line reports it, and Undo reverts the restore", async () => {
    await card().getByRole("button", { name: "Files", exact: true }).click();
    await line("Restored 2 files").waitFor();
    await line("b.txt skipped: you changed it since").waitFor();
    expect(window.readFile("a.txt")).toBe(FILES["a.txt"]);
    expect(window.readFile("b.txt")).toBe("B and mine\n");
    expect(existsSync(join(window.workspace, "made.txt"))).toBe(false);
    expect(await bubbles()).toHaveLength(3);
    await window.pictures("restore-line");
    await window.panel.locator(".restore-line").getByRole("button", { name: "Undo" }).click();
    await line("Undid the restore of 2 files").waitFor();
    expect(window.readFile("a.txt")).toBe("ONE\ntwo\nthree\n");
    expect(window.readFile("made.txt")).toContain("made by the agent");
  });

  test("files and conversation are restored by keyboard, and the message is in the composer", async () => {
    await window.panel.getByRole("button", { name: "Restore to Here" }).nth(1).focus();
    await window.page.keyboard.press("Enter");
    await window.panel.locator(".restore-card:focus").waitFor();
    for (const key of ["Tab", "Tab", "Enter"]) await window.page.keyboard.press(key);
    await expect.poll(bubbles).toEqual(['replace "one" with "ONE" in a.txt']);
    expect(existsSync(join(window.workspace, "made.txt"))).toBe(false);
    expect(window.readFile("a.txt")).toBe("ONE\ntwo\nthree\n");
    await expect.poll(() => window.composer.inputValue()).toBe('create made.txt with "made by the agent"');
  });

  test("/undo reverts the last message and its files", async () => {
    await window.composer.fill("");
    await window.send("/undo");
    await window.panel.locator(".answer", { hasText: "Undid" }).waitFor();
    await expect.poll(() => window.readFile("a.txt")).toBe(FILES["a.txt"]);
    await expect.poll(() => window.composer.inputValue()).toBe('replace "one" with "ONE" in a.txt');
    await window.pictures("restore-undo");
  });
});
