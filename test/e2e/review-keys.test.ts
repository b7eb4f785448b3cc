import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const NUMBERS = ["one", "two", "three", "four", "five", "six"];
/** Each number on a line of its own, two lines apart; none on the first, where the caret of a new editor is. */
const linesWith = (...changed: readonly string[]): string =>
  `top\n${NUMBERS.map((word) => `${changed.includes(word) ? word.toUpperCase() : word}\n-\n-\n`).join("")}`;
const [NEXT, PREVIOUS, KEEP, UNDO] = ["Alt+F6", "Shift+Alt+F6", "Control+Alt+KeyY", "Control+Alt+KeyU"];

// Real keys in the file itself; each step is pressed once what it needs is to be seen.
describe("keys of the review", () => {
  let window: VSCodeWindow;

  beforeAll(async () => {
    window = await VSCodeWindow.open({ name: "review-keys", files: { "a.txt": linesWith() } });
    await window.openPanel();
    const edits = NUMBERS.map((word) => `replace ${word} with ${word.toUpperCase()} in a.txt`);
    await window.send(edits.join(" then "));
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
  });

  const press = (key: string) => window.page.keyboard.press(key);
  const caretIsAt = (line: number) =>
    window.page.locator("#status\\.editor\\.selection", { hasText: `Ln ${line},` }).waitFor();
  /**
   * The lenses count what is left: all of them say so when VS Code has heard of the verdict. A key must not be pressed
   * before, as VS Code carries out the first use of a command later than other commands after it.
   */
  const areLeft = (hunks: number) =>
    expect
      .poll(() => window.lens(" of ").allTextContents(), { timeout: 60_000 })
      .toEqual(Array.from({ length: hunks }, (_, index) => expect.stringContaining(`(${index + 1} of ${hunks})`)));

  test("keys move between hunks, keep and undo them", async () => {
    await expect.poll(() => window.readFile("a.txt"), { timeout: 60_000 }).toBe(linesWith(...NUMBERS));
    await areLeft(6);
    await window.editor.locator(".view-line", { hasText: "top" }).click();
    await window.editor.locator(".monaco-editor.focused").first().waitFor();
    await caretIsAt(1);
    await press(NEXT);
    await caretIsAt(2);
    await press(NEXT);
    await caretIsAt(5);
    await press(UNDO);
    await areLeft(5);
    await expect.poll(() => window.readFile("a.txt"), { timeout: 20_000 }).toContain("two");
    await press(PREVIOUS);
    await caretIsAt(2);
    await press(KEEP);
    await areLeft(4);
    expect(window.readFile("a.txt")).toBe(linesWith(...NUMBERS.filter((word) => word !== "two")));
  });

  test("four keys at once act as four keys in a row", async () => {
    for (const key of [NEXT, UNDO, NEXT, KEEP]) await press(key);
    await areLeft(2);
    await expect
      .poll(() => window.readFile("a.txt"), { timeout: 20_000 })
      .toBe(linesWith("one", "four", "five", "six"));
    await caretIsAt(11);
    await press(NEXT);
    await caretIsAt(14);
  });
});
