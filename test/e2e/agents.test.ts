import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

function git(cwd: string, ...args: string[]): string {
  const user = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  return execFileSync("git", [...user, ...args], { cwd, encoding: "utf8" }).trim();
}

function commit(workspace: string): void {
  git(workspace, "init", "-q", "-b", "main");
  git(workspace, "add", ".");
  git(workspace, "commit", "-qm", "first");
}

// Several sessions side by side: one that works, one that asks, one with edits; and sessions in worktrees.
describe("sessions side by side", () => {
  let window: VSCodeWindow;
  const row = (text: string) => window.page.locator(".part.sidebar .monaco-list-row", { hasText: text });
  const press = (of: string, name: string, effect: () => Promise<unknown>) =>
    window.clickInRow(row(of), row(of).getByRole("button", { name }), effect);

  beforeAll(async () => {
    window = await VSCodeWindow.open({ name: "agents", files: { "a.txt": "one\ntwo\n" }, prepare: commit });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  const mergeWorktree = async (branch: string): Promise<void> => {
    await window.runCommand("Hermes: Manage Worktrees…");
    await window.quickInput.getByText(branch).click();
    const preview = window.page.locator(".tab", { hasText: "Changes of hermes/" });
    await preview.waitFor();
    await window.picture("worktree-end");
    await window.quickInput.getByText("Merge into main").click();
    await preview.waitFor({ state: "detached" });
  };

  afterAll(async () => {
    rmSync(`${window.workspace}.worktrees`, { recursive: true, force: true });
    await window.close();
  });

  test("the agents view shows what each session does, with its step, its branch and its changed lines", async () => {
    await window.send("run until test -e go; do sleep 0.1; done");
    await window.toolCalls("in_progress").first().waitFor();
    await window.newSession();
    await window.send("replace one with ONE in a.txt");
    await window.keepButton.waitFor();
    await window.newSession();
    await window.panel.getByRole("combobox", { name: "Mode" }).selectOption("ask");
    await window.send("run touch asked.txt");
    await window.panel.getByRole("alertdialog").waitFor();
    await window.runCommand("Hermes: Focus on Agents View");
    await row("touch asked.txt").filter({ hasText: "asks" }).waitFor();
    await row("until test").filter({ hasText: "works" }).waitFor();
    await row("replace one").filter({ hasText: "+1 −1" }).waitFor();
    await row("replace one").filter({ hasText: "main" }).waitFor();
    await window.pictures("agents", ["light", "dark", "high-contrast"]);
  });

  test("a request is answered, edits are undone and a turn is stopped from the row of the session", async () => {
    const once = window.quickInput.getByText("Allow Once");
    await press("touch asked.txt", "Answer", () => once.waitFor({ timeout: 4_000 }));
    await once.click();
    await expect.poll(() => window.hasFile("asked.txt")).toBe(true);
    const isGone = (of: string, what: string) => () =>
      row(of).filter({ hasText: what }).waitFor({ state: "detached", timeout: 4_000 });
    await press("replace one", "Undo All of Its Edits", isGone("replace one", "to review"));
    await expect.poll(() => window.readFile("a.txt")).toBe("one\ntwo\n");
    await press("until test", "Stop", isGone("until test", "works"));
    await row("until test").click();
    await window.panel.locator(".bubble", { hasText: "until test" }).waitFor();
  });

  test("a turn of another window is in the list, and ends there", async () => {
    const other = await window.another();
    await other.openPanel();
    await other.newSession();
    await other.send("run until test -e elsewhere; do sleep 0.1; done");
    await other.toolCalls("in_progress").first().waitFor();
    await row("until test -e").filter({ hasText: "works" }).waitFor();
    writeFileSync(join(window.workspace, "elsewhere"), "");
    await row("until test -e").filter({ hasText: "works" }).waitFor({ state: "detached" });
  });

  test("a session in a worktree works on its task there, opens in a window, and is merged from the list of worktrees", async () => {
    await window.newSession();
    await window.panel.getByRole("button", { name: "New Session in a Worktree…" }).click();
    await window.quickInput.locator("input").first().fill("replace one with ONE in a.txt");
    await window.picture("worktree-task");
    await window.page.keyboard.press("Enter");
    const path = `${window.workspace}.worktrees/replace-one-with-one-in-a-txt`;
    await window.panel.locator(".bubble", { hasText: "replace one with ONE" }).waitFor();
    await window.keepButton.waitFor();
    const place = window.panel.getByRole("button", { name: "replace-one-with-one-in-a-txt", exact: true });
    await place.waitFor();
    await row("replace one").filter({ hasText: "hermes/replace-one" }).waitFor();
    await window.picture("worktree-session");
    expect([readFileSync(join(path, "a.txt"), "utf8"), window.readFile("a.txt")]).toEqual(["ONE\ntwo\n", "one\ntwo\n"]);
    expect(git(path, "branch", "--show-current")).toBe("hermes/replace-one-with-one-in-a-txt");
    const opened = new Promise<Page>((resolve) => window.page.context().once("page", resolve));
    await place.click();
    await window.quickInput.getByText("Open in a New Window").click();
    const page = await opened;
    await expect.poll(() => decodeURIComponent(page.url())).toContain(`folder=${path}`);
    await page.close();
    await window.newSession();
    await row("hermes/replace-one").click();
    await window.panel.locator(".bubble", { hasText: "replace one with ONE" }).waitFor();
    await window.send("run pwd");
    await window.panel.locator(".terminal-output", { hasText: path }).waitFor();
    await mergeWorktree("hermes/replace-one-with-one-in-a-txt");
    await expect.poll(() => window.readFile("a.txt")).toBe("ONE\ntwo\n");
    await expect.poll(() => existsSync(path)).toBe(false);
  });

  test("a session whose worktree is gone says so at the next message, and goes on in the main folder", async () => {
    await window.send("run echo here: $PWD");
    await window.panel
      .getByRole("alert")
      .getByText(/^The folder of this session is gone: workspace\.worktrees/)
      .waitFor();
    await window.pictures("worktree-gone", ["dark", "light", "high-contrast"]);
    await window.panel.getByRole("button", { name: "Go On in the Main Folder" }).click();
    await window.panel.locator(".terminal-output", { hasText: `here: ${window.workspace}` }).waitFor();
    expect(await window.panel.locator(".bubble").count()).toBe(3);
  });

  test("conflicts of a merge go to a session in the worktree", async () => {
    const path = `${window.workspace}.worktrees/again`;
    git(window.workspace, "worktree", "add", "-q", "-b", "hermes/again", path);
    writeFileSync(join(path, "a.txt"), "eins\ntwo\n");
    writeFileSync(join(window.workspace, "a.txt"), "uno\ntwo\n");
    git(window.workspace, "commit", "-qam", "uno");
    await mergeWorktree("hermes/again");
    await window.page.getByRole("button", { name: "Let a Session Resolve Them" }).click();
    await window.panel.locator(".bubble", { hasText: "Resolve the conflicts with main" }).waitFor();
    await window.picture("worktree-conflict");
    await window.send("run pwd");
    await window.panel.locator(".terminal-output", { hasText: path }).waitFor();
    expect(git(window.workspace, "status", "--porcelain", "-uno")).toBe("");
    git(path, "merge", "-q", "-X", "ours", "main");
    await mergeWorktree("hermes/again");
    await expect.poll(() => window.readFile("a.txt")).toBe("eins\ntwo\n");
  });
});
