import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const FILES = {
  "a.txt": "one\ntwo\nthree\n",
  "b.txt": "four\nfive\nsix\nseven\neight\nnine\nten\n",
  "c.txt": "eleven\ntwelve\n",
};

// Edits in several files of a git repository: gone through by keys, in the list, and all at once.
describe("review across files", () => {
  let window: VSCodeWindow;
  const gitIn = (cwd: string, ...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b.invalid", ...args], { cwd, encoding: "utf8" });
  const git = (...args: string[]): string => gitIn(window.workspace, ...args);

  beforeAll(async () => {
    const prepare = (workspace: string): void => {
      gitIn(workspace, "init", "-q");
      gitIn(workspace, "add", ".");
      gitIn(workspace, "commit", "-qm", "first");
    };
    window = await VSCodeWindow.open({ name: "review-many", files: FILES, prepare });
    await window.openPanel();
    const edits = [
      "two with TWO in a.txt",
      "four with FOUR in b.txt",
      "ten with TEN in b.txt",
      "twelve with TWELVE in c.txt",
    ];
    await window.send(edits.map((edit) => `replace ${edit}`).join(" then "));
    await window.panel.getByText("3 files").first().waitFor();
    await window.page.locator(".tab.active", { hasText: "c.txt" }).waitFor(); // the agent shows each file that it edits
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
  });

  const tab = () => window.page.locator(".tab.active").first().getAttribute("data-resource-name");
  /** File and line of the caret. */
  const place = async (): Promise<string> => {
    const selection = (await window.page.locator("#status\\.editor\\.selection").textContent()) ?? "";
    return `${await tab()} ${/Ln (\d+)/.exec(selection)?.[1]}`;
  };
  const press = (key: string) => window.page.keyboard.press(key);
  const editsView = () =>
    window.page.locator(".pane", { has: window.page.locator('.pane-header[aria-label^="Edits to Review"]') });

  test("the keys move from hunk to hunk across files, and back", async () => {
    const hunks = ["a.txt 2", "b.txt 1", "b.txt 7", "c.txt 2"];
    await window.runCommand("View: Close All Editors");
    await window.page.locator(".tab").first().waitFor({ state: "detached" });
    await window.runCommand("Hermes: Next Hunk");
    await expect.poll(place).toBe(hunks[0]);
    for (const step of [1, 2, 3, 4]) {
      await press("Alt+F6");
      await expect.poll(place).toBe(hunks[step % 4]);
    }
    await press("Shift+Alt+F6");
    await expect.poll(place).toBe(hunks[3]);
  });

  test("all edits open as one comparison", async () => {
    await window.runCommand("Hermes: Review All Edits");
    await window.page.locator(".multiDiffEntry").nth(1).waitFor();
    await window.pictures("review-all");
  });

  test("the list has a button to keep and one to undo each file", async () => {
    await window.runCommand("Hermes: Focus on Edits to Review View");
    const row = (name: string) => editsView().locator(".monaco-list-row", { hasText: name });
    const press = (name: string, button: string) =>
      window.clickInRow(row(name), row(name).locator(`.action-label[aria-label^="${button}"]`), () =>
        row(name).waitFor({ state: "detached", timeout: 4_000 }),
      );
    await press("a.txt", "Undo File");
    await expect.poll(() => window.readFile("a.txt")).toBe(FILES["a.txt"]);
    await row("c.txt").hover();
    await window.pictures("review-list");
    await press("c.txt", "Keep File");
    expect(window.readFile("c.txt")).toContain("TWELVE");
  });

  test("the user's repository has the kept edits as changes, and no file of Hermes", async () => {
    expect(
      git("status", "--porcelain")
        .trim()
        .split("\n")
        .map((entry) => entry.trim()),
    ).toEqual(["M b.txt", "M c.txt"]);
    expect(git("log", "--oneline", "--all").trim().split("\n")).toHaveLength(1);
    expect(git("stash", "list")).toBe("");
  });
});
