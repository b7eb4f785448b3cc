import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const SOURCE = [
  "def total(prices):",
  "    result = 0",
  "    for price in prices:",
  "        result += price",
  "    return result",
  "",
  "def average(prices):",
  "    return total(prices) / len(prices)",
  "",
].join("\n");
const FIRST = { old: "result = 0", new: "result = 0.0" };
const SECOND = { old: "/ len(prices)", new: "/ max(1, len(prices))" };

const NUMBERS = ["one", "two", "three", "four", "five", "six"];
/** Each number on a line of its own, two lines apart; none on the first, where the caret of a new editor is. */
const linesWith = (...changed: readonly string[]): string =>
  `top\n${NUMBERS.map((word) => `${changed.includes(word) ? word.toUpperCase() : word}\n-\n-\n`).join("")}`;
const [NEXT, PREVIOUS, KEEP, UNDO] = ["Alt+F6", "Shift+Alt+F6", "Control+Alt+KeyY", "Control+Alt+KeyU"];

const edit = ({ old, new: replacement }: typeof FIRST): string => `replace "${old}" with "${replacement}" in shop.py`;

// Edits land, and the user decides hunk by hunk in the file itself.
describe("review after the edits have landed", () => {
  let window: VSCodeWindow;

  beforeAll(async () => {
    window = await VSCodeWindow.open({ name: "review-after", files: { "shop.py": SOURCE, "a.txt": linesWith() } });
    await window.openPanel();
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
      .poll(() => window.lens(" of ").allTextContents())
      .toEqual(Array.from({ length: hunks }, (_, index) => expect.stringContaining(`(${index + 1} of ${hunks})`)));

  test("the file is open with its hunks marked, and the removed text beside them", async () => {
    await window.send(edit(FIRST));
    await expect.poll(() => window.readFile("shop.py")).toContain(FIRST.new);
    await window.send(edit(SECOND));
    await expect.poll(() => window.readFile("shop.py")).toContain(SECOND.new);
    await window.lens("Keep +1 −1").nth(1).waitFor();
    await window.editor.getByText("Next (1 of 2)").waitFor();
    await window.pictures("review-after");
  });

  test("the gutter's peek shows the removed lines, with a button that keeps them", async () => {
    await window.editor.locator(".view-line").first().click();
    await window.runCommand("Show Next Change");
    const peek = window.page.locator(".peekview-widget");
    await peek.locator('.action-label[aria-label^="Keep Hermes\' Change"]').waitFor();
    await peek.getByText("result = 0.0").waitFor();
    await window.pictures("review-peek");
    await window.page.keyboard.press("Escape");
    await peek.waitFor({ state: "detached" });
  });

  test("undo above a hunk restores its old lines and leaves the other hunk", async () => {
    await window.lens("Undo").first().click();
    await expect.poll(() => window.readFile("shop.py")).toBe(SOURCE.replace(SECOND.old, SECOND.new));
    await window.lens("Undo").nth(1).waitFor({ state: "detached" });
  });

  /** The page does not have the lenses in the order of their lines. */
  const undoTopHunk = async (): Promise<void> => {
    const lenses = await window.lens("Undo").all();
    const heights = await Promise.all(lenses.map(async (lens) => (await lens.boundingBox())?.y ?? Number.NaN));
    await lenses[heights.indexOf(Math.min(...heights))]?.click();
  };

  test("the agent's next edit learns about undone lines and leaves them undone", async () => {
    await window.send(edit({ old: "def total", new: "def whole" }));
    await window.panel.getByText("They undid 1 of your edits").first().waitFor();
    const kept = SOURCE.replace(SECOND.old, SECOND.new);
    expect(window.readFile("shop.py")).toBe(kept.replace("def total", "def whole"));
    await window.lens("Undo").nth(1).waitFor();
    // VS Code may replace a lens at the moment of the click. The interval is longer than the undo takes.
    const undoFirst = async (): Promise<string> => {
      if (window.readFile("shop.py") !== kept) await undoTopHunk();
      return window.readFile("shop.py");
    };
    await expect.poll(undoFirst, { interval: 3_000 }).toBe(kept);
    await window.lens("Undo").nth(1).waitFor({ state: "detached" });
  });

  test("the hunk survives a reload, and keep ends its review", async () => {
    await window.reload();
    await window.runCommand("Hermes: Next Hunk");
    await window.lens("Keep +1 −1").click();
    await window.lens("Keep").first().waitFor({ state: "detached" });
    expect(window.readFile("shop.py")).toBe(SOURCE.replace(SECOND.old, SECOND.new));
  });

  // Real keys in the file itself; each step is pressed once what it needs is to be seen.
  test("keys move between hunks, keep and undo them", async () => {
    const edits = NUMBERS.map((word) => `replace ${word} with ${word.toUpperCase()} in a.txt`);
    await window.openPanel();
    await window.newSession();
    await window.send(edits.join(" then "));
    await expect.poll(() => window.readFile("a.txt")).toBe(linesWith(...NUMBERS));
    await areLeft(6);
    await window.editor.locator(".view-line", { hasText: "top" }).click();
    await window.editor.locator(".monaco-editor.focused").first().waitFor();
    await caretIsAt(1);
    // The first key is pressed in the panel, where the user reads the answer.
    await window.composer.focus();
    await press(NEXT);
    await caretIsAt(2);
    await press(NEXT);
    await caretIsAt(5);
    await press(UNDO);
    await areLeft(5);
    await expect.poll(() => window.readFile("a.txt")).toContain("two");
    await press(PREVIOUS);
    await caretIsAt(2);
    await press(KEEP);
    await areLeft(4);
    expect(window.readFile("a.txt")).toBe(linesWith(...NUMBERS.filter((word) => word !== "two")));
  });

  test("four keys at once act as four keys in a row", async () => {
    for (const key of [NEXT, UNDO, NEXT, KEEP]) await press(key);
    await areLeft(2);
    await expect.poll(() => window.readFile("a.txt")).toBe(linesWith("one", "four", "five", "six"));
    await caretIsAt(11);
    await press(NEXT);
    await caretIsAt(14);
  });
});

// Nothing is written before the verdict.
describe("review before anything is written", () => {
  let window: VSCodeWindow;

  beforeAll(async () => {
    window = await VSCodeWindow.open({
      name: "review-before",
      files: { "shop.py": SOURCE, "list.txt": "a\nb\nc\nd\na\n" },
      settings: { "hermes.review.mode": "before" },
    });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
  });

  test("the edit waits as a diff, and the panel says so", async () => {
    await window.send('replace all "a" with "A" in list.txt');
    await window.lens("Accept +1 −1").nth(1).waitFor();
    await window.panel.getByText("1 waits for you").waitFor();
    expect(window.readFile("list.txt")).toBe("a\nb\nc\nd\na\n");
    await window.pictures("review-before");
  });

  test("only the accepted hunk is written, and the agent learns which one", async () => {
    await window.lens("Reject").first().click();
    await window.lens("Accept +1 −1").nth(1).waitFor({ state: "detached" });
    await window.lens("Accept +1 −1").click();
    await expect.poll(() => window.readFile("list.txt")).toBe("a\nb\nc\nd\nA\n");
    await window.panel.getByText("the user accepted 1 of 2 changes").first().waitFor();
    await window.diffEditor.waitFor({ state: "detached" });
  });

  test("a rejected edit does not change the file", async () => {
    await window.send(edit(FIRST));
    await window.lens("Reject").first().click();
    await window.panel.getByText("nothing was written to shop.py").first().waitFor();
    expect(window.readFile("shop.py")).toBe(SOURCE);
  });

  test("accepted hunks survive a reload, and the next edit waits again", async () => {
    await window.reload();
    await window.openPanel();
    expect(window.readFile("list.txt")).toBe("a\nb\nc\nd\nA\n");
    await window.send(edit(SECOND));
    await window.lens("Accept +1 −1").first().click();
    await expect.poll(() => window.readFile("shop.py")).toBe(SOURCE.replace(SECOND.old, SECOND.new));
  });
});
