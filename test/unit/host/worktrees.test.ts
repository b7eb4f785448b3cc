import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  addWorktree,
  endWorktree,
  listWorktrees,
  savePatch,
  worktreeAt,
  worktreeState,
} from "../../../agent-core/host/worktrees.ts";

let folder: string;
let repository: string;

const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-worktrees-")));
  repository = join(folder, "shop");
  mkdirSync(repository);
  git(repository, "init", "-q", "-b", "main");
  git(repository, "config", "user.name", "Ada");
  git(repository, "config", "user.email", "ada@example.org");
  git(repository, "config", "commit.gpgsign", "true"); // no key: a signature would fail
  git(repository, "config", "gpg.program", "false");
  for (const name of ["a.txt", "b.txt"]) writeFileSync(join(repository, name), "one\n");
  git(repository, "add", ".");
  git(repository, "-c", "commit.gpgsign=false", "commit", "-qm", "first");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a worktree of a session", () => {
  test("lies beside the repository, on a branch of its own, and leaves the main folder as it is", async () => {
    writeFileSync(join(repository, "a.txt"), "mine\n");
    const worktree = await addWorktree(join(repository), "Fix the Flaky Test!");
    expect(worktree).toEqual({
      path: join(folder, "shop.worktrees", "fix-the-flaky-test"),
      branch: "hermes/fix-the-flaky-test",
      base: repository,
    });
    expect(readFileSync(join(worktree.path, "a.txt"), "utf8")).toBe("one\n");
    expect(readFileSync(join(repository, "a.txt"), "utf8")).toBe("mine\n");
    expect(await worktreeAt(worktree.path)).toEqual(worktree);
    expect(await worktreeAt(repository)).toBeUndefined();
    await expect(addWorktree(repository, "fix the flaky test")).rejects.toThrow("exists already");
  });

  test("is merged whole, with what is not committed, and is gone", async () => {
    const worktree = await addWorktree(repository, "one");
    writeFileSync(join(worktree.path, "b.txt"), "two\n");
    writeFileSync(join(worktree.path, "new.txt"), "new\n");
    expect(await worktreeState(worktree)).toMatchObject({ baseBranch: "main", commits: 0, files: 2, uncommitted: 2 });
    expect(await endWorktree(worktree, "merge", "Change b")).toContain("Merged hermes/one into main");
    expect(readFileSync(join(repository, "b.txt"), "utf8")).toBe("two\n");
    expect(git(repository, "log", "-1", "--format=%s")).toBe("Change b");
    expect(git(repository, "branch", "--list", "hermes/*")).toBe("");
    expect(existsSync(join(folder, "shop.worktrees"))).toBe(false);
  });

  test.each(["merge", "rebase"] as const)(
    "is not touched by a %s that conflicts, nor is the main folder",
    async (end) => {
      const worktree = await addWorktree(repository, "one");
      writeFileSync(join(worktree.path, "a.txt"), "theirs\n");
      writeFileSync(join(repository, "a.txt"), "ours\n");
      git(repository, "-c", "commit.gpgsign=false", "commit", "-qam", "ours");
      await expect(endWorktree(worktree, end, "theirs")).rejects.toThrow("a.txt");
      expect(git(repository, "status", "--porcelain")).toBe("");
      expect(git(worktree.path, "status", "--porcelain")).toBe("");
      expect(readFileSync(join(worktree.path, "a.txt"), "utf8")).toBe("theirs\n");
    },
  );

  test("is rebased onto what the main folder has meanwhile", async () => {
    const worktree = await addWorktree(repository, "one");
    writeFileSync(join(worktree.path, "a.txt"), "theirs\n");
    writeFileSync(join(repository, "b.txt"), "ours\n");
    git(repository, "-c", "commit.gpgsign=false", "commit", "-qam", "ours");
    await endWorktree(worktree, "rebase", "theirs");
    expect(git(repository, "log", "--format=%s")).toBe("theirs\nours\nfirst");
  });

  test("ends as a branch, or as a patch that applies", async () => {
    const [one, two] = [await addWorktree(repository, "one"), await addWorktree(repository, "two")];
    expect(await listWorktrees(one.path)).toHaveLength(2);
    writeFileSync(join(one.path, "a.txt"), "one!\n");
    await endWorktree(one, "branch", "One");
    expect(git(repository, "show", "hermes/one:a.txt")).toBe("one!");
    writeFileSync(join(two.path, "c.txt"), "new\n");
    const patch = readFileSync(await savePatch(two));
    await endWorktree(two, "patch", "");
    expect(existsSync(two.path)).toBe(false);
    execFileSync("git", ["apply"], { cwd: repository, input: patch });
    expect(readFileSync(join(repository, "c.txt"), "utf8")).toBe("new\n");
  });

  test("that was deleted by hand is no longer listed, and a folder without git is refused in words", async () => {
    const { path } = await addWorktree(repository, "one");
    rmSync(path, { recursive: true });
    expect(await listWorktrees(repository)).toEqual([]);
    await expect(addWorktree(folder, "two")).rejects.toThrow("is not in a git repository");
  });
});
