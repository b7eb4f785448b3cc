import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const TEXT = ["one", "two", "three", "four", "five", "six", "seven", "eight", ""].join("\n");

const edit = (old: string, fresh: string, file = "a.txt"): string => `replace ${old} with ${fresh} in ${file}`;

// Two windows on one folder, each with an agent of its own.
describe("one file in two windows", () => {
  let one: VSCodeWindow;
  let other: VSCodeWindow;

  beforeAll(async () => {
    one = await VSCodeWindow.open({ name: "review-two-windows", files: { "a.txt": TEXT, "b.txt": TEXT } });
    other = await one.another();
    for (const window of [one, other]) await window.openPanel();
  });

  pictureOfFailure(() => one);
  pictureOfFailure(() => other);

  afterAll(async () => {
    await one.close();
  });

  const onDisk = (): string => one.readFile("a.txt");
  /** A whole line; VS Code draws spaces that do not break. */
  const line = (window: VSCodeWindow, text: string) =>
    window.editor.locator(".view-line").filter({ hasText: new RegExp(`^${text.replaceAll(" ", "\\s")}$`) });

  test("each window shows the other's edits, but has only its own up for review", async () => {
    await one.send(edit("two", "TWO"));
    await one.lens("Keep +1 −1").waitFor();
    await other.send(edit("six", "SIX"));
    await other.lens("Keep +1 −1").waitFor();
    await expect.poll(onDisk).toBe(TEXT.replace("two", "TWO").replace("six", "SIX"));
    await line(one, "SIX").waitFor();
    await line(other, "TWO").waitFor();
    expect(await one.lens("Keep").count()).toBe(1);
    expect(await other.lens("Keep").count()).toBe(1);
  });

  test("undo in one window keeps the other's edit and its review", async () => {
    await one.lens("Undo").click();
    await expect.poll(onDisk).toBe(TEXT.replace("six", "SIX"));
    await one.lens("Undo").waitFor({ state: "detached" });
    await line(other, "two").waitFor();
    await other.lens("Keep +1 −1").waitFor();
    await line(one, "SIX").waitFor();
  });

  test("unsaved text in one window is neither ignored by the other nor saved over its edit", async () => {
    const disk = (): string => one.readFile("b.txt");
    await other.page.getByRole("treeitem", { name: "b.txt" }).click();
    await line(other, "six").waitFor();
    await line(other, "one").click();
    await other.page.keyboard.press("Home");
    await other.page.keyboard.type("mine ");
    await line(other, "mine one").waitFor();
    await one.send(edit("four", "FOUR and more", "b.txt"));
    await expect.poll(disk).toBe(TEXT.replace("four", "FOUR and more"));
    await line(one, "FOUR and more").waitFor();
    await other.send(edit("eight", "EIGHT", "b.txt"));
    await line(other, "EIGHT").waitFor();
    await line(other, "four").waitFor();
    await line(other, "mine one").click();
    await other.page.keyboard.press("Control+KeyS");
    await other.notifications.filter({ hasText: "The content of the file is newer" }).waitFor();
    expect(disk()).toBe(TEXT.replace("four", "FOUR and more"));
    await one.lens("Undo").click();
    await expect.poll(disk).toBe(TEXT);
    await line(other, "mine one").waitFor();
  });
});
