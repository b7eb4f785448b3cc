import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  addWorktree,
  copyIgnored,
  endWorktree,
  listWorktrees,
  makeWorktree,
  worktreeAt,
  worktreeChanges,
  worktreeState,
} from "../../../agent-core/host/worktrees.ts";

const MODULE = new URL("../../../agent-core/host/worktrees.ts", import.meta.url).href;

let folder: string;
let repository: string;

const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
const commit = (cwd: string, message: string): string => {
  git(cwd, "add", ".");
  return git(cwd, "-c", "commit.gpgsign=false", "commit", "-qm", message);
};
/** A merge whose conflicts are open. */
function beginMerge(cwd: string): void {
  git(cwd, "checkout", "-q", "-b", "other", "HEAD");
  writeFileSync(join(cwd, "a.txt"), "other\n");
  commit(cwd, "other");
  git(cwd, "checkout", "-q", "-");
  writeFileSync(join(cwd, "a.txt"), "here\n");
  commit(cwd, "here");
  expect(() => git(cwd, "merge", "other")).toThrow();
}
/** Every program that is found as git writes no file over 8 KB in a merge, as on a full disk. */
function fillDiskInMerges(): void {
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const file = join(folder, "bin", "git");
  mkdirSync(join(folder, "bin"));
  writeFileSync(
    file,
    `#!/bin/bash\ncase " $* " in *" merge "*) trap "" XFSZ; ulimit -f 8;; esac\nexec "${real}" "$@"\n`,
  );
  chmodSync(file, 0o755);
  vi.stubEnv("PATH", `${join(folder, "bin")}${delimiter}${process.env["PATH"]}`);
}

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
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

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
    const task = "fix the flaky test, which fails when two of them run at once";
    const branches = [];
    for (let count = 0; count < 2; count += 1) branches.push((await addWorktree(repository, task)).branch);
    expect(branches).toEqual([
      "hermes/fix-the-flaky-test-which-fails-when-two",
      "hermes/fix-the-flaky-test-which-fails-when-two-2",
    ]);
    expect((await addWorktree(repository, "fix the flaky test")).branch).toBe("hermes/fix-the-flaky-test-2");
    git(repository, "branch", "hermes/elsewhere");
    expect((await addWorktree(repository, "elsewhere")).path).toMatch(/elsewhere-2$/);
  });

  test("is merged whole, with what is not committed, and is gone", async () => {
    const worktree = await addWorktree(repository, "one");
    writeFileSync(join(worktree.path, "b.txt"), "two\n");
    writeFileSync(join(worktree.path, "new.txt"), "new\n");
    expect(await worktreeState(worktree)).toMatchObject({ baseBranch: "main", commits: 0, files: 2, uncommitted: 2 });
    expect((await endWorktree(worktree, "merge", "Change b")).message).toContain("Merged hermes/one into main");
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
      expect((await endWorktree(worktree, end, "theirs")).conflicts).toEqual(["a.txt"]);
      expect(git(repository, "status", "--porcelain")).toBe("");
      expect(git(worktree.path, "status", "--porcelain")).toBe("");
      expect(readFileSync(join(worktree.path, "a.txt"), "utf8")).toBe("theirs\n");
    },
  );

  test("gets those ignored files of the main folder that the globs name, and no others", async () => {
    writeFileSync(join(repository, ".gitignore"), ".env*\nbuild\nlocal\n");
    git(repository, "add", ".gitignore");
    git(repository, "-c", "commit.gpgsign=false", "commit", "-qm", "ignore");
    for (const inside of ["build", "local/deep"]) mkdirSync(join(repository, inside), { recursive: true });
    for (const file of [".env", ".env.test", "build/out.js", "local/deep/key", "untracked.txt"])
      writeFileSync(join(repository, file), file);
    const worktree = await addWorktree(repository, "one");
    await copyIgnored(worktree, [".env*", "local/**", "*.txt"]);
    const copied = [".env", ".env.test", "local/deep/key", "build/out.js", "untracked.txt"].filter((file) =>
      existsSync(join(worktree.path, file)),
    );
    expect(copied).toEqual([".env", ".env.test", "local/deep/key"]);
    expect(git(worktree.path, "status", "--porcelain")).toBe("");
  });

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
    writeFileSync(`${two.path}.patch`, "of another\n");
    await expect(endWorktree(two, "patch", "")).rejects.toThrow("two.patch exists already.");
    rmSync(`${two.path}.patch`);
    const { file = "", message } = await endWorktree(two, "patch", "");
    expect(message).toContain(`and its branch. Its changes are in ${file}.`);
    const patch = readFileSync(file);
    expect((await addWorktree(repository, "two")).branch).toBe("hermes/two-2"); // another patch needs its place
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

  test.each(["merge", "rebase", "branch", "patch"] as const)(
    "with conflicts of a merge or a rebase does not end as a %s",
    async (end) => {
      const worktree = await addWorktree(repository, "one");
      beginMerge(worktree.path);
      const { message, conflicts } = await endWorktree(worktree, end, "m");
      expect(conflicts).toEqual(["a.txt"]);
      expect(message).toContain("A merge in");
      expect(git(worktree.path, "status", "--porcelain")).toBe("UU a.txt");
      expect(git(repository, "log", "--format=%s")).toBe("first");
      git(worktree.path, "merge", "--abort");
      expect(() => git(worktree.path, "rebase", "other")).toThrow();
      expect((await endWorktree(worktree, end, "m")).message).toContain("A rebase in");
    },
  );

  test("is not merged into a main folder with an unfinished merge", async () => {
    const worktree = await addWorktree(repository, "one");
    writeFileSync(join(worktree.path, "b.txt"), "two\n");
    beginMerge(repository);
    await expect(endWorktree(worktree, "merge", "m")).rejects.toThrow("you have unmerged files");
    expect(git(repository, "status", "--porcelain")).toBe("UU a.txt");
    expect(readFileSync(join(worktree.path, "b.txt"), "utf8")).toBe("two\n");
  });

  test.skipIf(process.platform === "win32").each(["merge", "rebase"] as const)(
    "stays, and the main folder is as it was, when a %s fills the disk",
    async (end) => {
      const worktree = await addWorktree(repository, "one");
      for (const name of ["a.txt", "new.txt"]) writeFileSync(join(worktree.path, name), "x".repeat(60_000));
      writeFileSync(join(worktree.path, "small.txt"), "small\n");
      writeFileSync(join(repository, "b.txt"), "mine\n");
      fillDiskInMerges();
      await expect(endWorktree(worktree, end, "m")).rejects.toThrow("unable to write");
      expect(git(repository, "status", "--porcelain")).toBe("M b.txt");
      expect(readFileSync(join(repository, "b.txt"), "utf8")).toBe("mine\n");
      vi.unstubAllEnvs();
      expect((await endWorktree(worktree, end, "m")).message).toContain("Merged");
      expect(git(repository, "status", "--porcelain")).toBe("M b.txt");
    },
  );

  test("with work in a submodule keeps it, and ends once that work is elsewhere", async () => {
    const [library, store] = [join(folder, "library"), join(folder, "library.git")];
    git(folder, "clone", "-q", repository, library);
    git(folder, "clone", "-q", "--bare", repository, store);
    git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", store, "lib");
    commit(repository, "library");
    const { path, ...rest } = await addWorktree(repository, "one");
    const inside = join(path, "lib");
    git(path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init");
    git(inside, "checkout", "-q", "-b", "work");
    writeFileSync(join(inside, "a.txt"), "two\n");
    await expect(endWorktree({ path, ...rest }, "merge", "m")).rejects.toThrow("would go with the worktree: lib.");
    git(inside, "-c", "user.name=Ada", "-c", "user.email=a@example.org", "commit", "-qam", "two");
    for (const end of ["branch", "patch"] as const)
      await expect(endWorktree({ path, ...rest }, end, "m")).rejects.toThrow("would go with the worktree: lib.");
    git(inside, "checkout", "-q", "--detach", "origin/main");
    await expect(endWorktree({ path, ...rest }, "rebase", "m")).rejects.toThrow("would go with the worktree: lib.");
    git(inside, "push", "-q", "origin", "work");
    writeFileSync(join(inside, "a.txt"), "three\n");
    git(inside, "-c", "user.name=Ada", "-c", "user.email=a@example.org", "stash", "-q");
    rmSync(join(path, ".gitmodules"));
    await expect(endWorktree({ path, ...rest }, "patch", "m")).rejects.toThrow("would go with the worktree: lib.");
    git(inside, "stash", "drop", "-q");
    git(path, "checkout", "-q", ".gitmodules");
    expect((await endWorktree({ path, ...rest }, "merge", "m")).message).toContain("Merged");
    expect(existsSync(path)).toBe(false);
  });

  test("with a repository that its session made does not end but by a discard, and nothing has changed", async () => {
    const worktree = await addWorktree(repository, "one");
    const inside = join(worktree.path, "new", "tool");
    mkdirSync(inside, { recursive: true });
    git(inside, "init", "-q");
    writeFileSync(join(inside, "a.txt"), "mine\n");
    git(inside, "add", ".");
    git(inside, "-c", "user.name=Ada", "-c", "user.email=a@example.org", "commit", "-qm", "tool");
    for (const end of ["merge", "rebase", "branch", "patch"] as const)
      await expect(endWorktree(worktree, end, "m")).rejects.toThrow("would go with the worktree: new/tool.");
    expect(git(repository, "log", "--format=%s", "--all")).toBe("first");
    expect(existsSync(`${worktree.path}.patch`)).toBe(false);
    git(worktree.path, "add", "."); // as a submodule without .gitmodules
    await expect(endWorktree(worktree, "merge", "m")).rejects.toThrow("would go with the worktree: new/tool.");
    expect((await endWorktree(worktree, "discard", "m")).message).toContain("and its branch.");
  });

  test.each([
    ["has no commit", () => git(folder, "init", "-q", join(folder, "empty")), "empty", "has no commit yet"],
    ["is bare", () => git(folder, "clone", "-q", "--bare", repository, "empty"), "empty", "is not in a git repository"],
  ])("is not made where the repository %s", async (_, prepare, name, reason) => {
    prepare();
    await expect(addWorktree(join(folder, name), "two")).rejects.toThrow(reason);
  });

  test("is made and merged in a shallow clone", async () => {
    writeFileSync(join(repository, "a.txt"), "more\n");
    commit(repository, "second");
    git(folder, "clone", "-q", "--depth", "1", `file://${repository}`, "shallow");
    const shallow = join(folder, "shallow");
    for (const [name, value] of [
      ["name", "Ada"],
      ["email", "ada@example.org"],
    ] as const)
      git(shallow, "config", `user.${name}`, value);
    const worktree = await addWorktree(shallow, "one");
    writeFileSync(join(worktree.path, "a.txt"), "two\n");
    await endWorktree(worktree, "merge", "Change");
    expect(git(shallow, "log", "--format=%s")).toBe("Change\nsecond");
  });

  test.each(["merge", "rebase", "branch", "patch", "discard"] as const)(
    "ends once as a %s when two windows end it, and the second says that it is gone",
    async (end) => {
      const worktree = await addWorktree(repository, "one");
      writeFileSync(join(worktree.path, "a.txt"), "two\n");
      // Another window is another process, with this module of its own.
      const other = `const { endWorktree } = await import(${JSON.stringify(MODULE)}); await endWorktree(${JSON.stringify(worktree)}, "${end}", "m")`;
      const ends = await Promise.allSettled([
        endWorktree(worktree, end, "m"),
        promisify(execFile)(process.execPath, ["--input-type=module", "-e", other]),
        endWorktree(worktree, end, "m"),
      ]);
      expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const each of ends) if (each.status === "rejected") expect(String(each.reason)).toContain("one is gone.");
      expect(git(repository, "status", "--porcelain")).toBe("");
      expect(await listWorktrees(repository)).toEqual([]);
    },
  );

  test("is listed and ends with the work of another branch that its session checked out", async () => {
    const worktree = await addWorktree(repository, "one");
    git(worktree.path, "checkout", "-q", "-b", "feature");
    writeFileSync(join(worktree.path, "a.txt"), "two\n");
    const found = { ...worktree, branch: "feature" };
    expect(await listWorktrees(repository)).toEqual([found]);
    expect((await endWorktree(found, "merge", "m")).message).toContain("Merged feature into main");
    expect(readFileSync(join(repository, "a.txt"), "utf8")).toBe("two\n");
    expect(git(repository, "branch", "--format=%(refname:short)")).toBe("feature\nmain");
  });

  test("is listed after its session renamed its branch, and is discarded with words about that branch", async () => {
    const worktree = await addWorktree(repository, "one");
    git(worktree.path, "branch", "-m", "feature");
    const [found] = await listWorktrees(repository);
    expect(found).toEqual({ ...worktree, branch: "feature" });
    expect((await endWorktree(found ?? worktree, "discard", "m")).message).toContain("The branch stays: feature.");
    expect(existsSync(worktree.path)).toBe(false);
  });

  test.each(["merge", "rebase", "branch", "patch"] as const)(
    "with an unfinished rebase, or with git's lock, does not end as a %s",
    async (end) => {
      const worktree = await addWorktree(repository, "one");
      for (const name of ["b.txt", "c.txt"]) {
        writeFileSync(join(worktree.path, name), "mine\n");
        commit(worktree.path, name);
      }
      git(worktree.path, "-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-q", "-i", "HEAD~2");
      const [found = worktree] = await listWorktrees(repository);
      await expect(endWorktree(found, end, "m")).rejects.toThrow("A rebase in");
      git(worktree.path, "rebase", "--abort");
      git(repository, "worktree", "lock", worktree.path);
      await expect(endWorktree(worktree, end, "m")).rejects.toThrow("git has locked");
      expect(git(repository, "log", "--format=%s", "main")).toBe("first");
      expect(git(worktree.path, "log", "--format=%s")).toBe("c.txt\nb.txt\nfirst");
    },
  );

  test("keeps commits of the branch that its session left, and of a main folder without a branch", async () => {
    const [one, two] = [await addWorktree(repository, "one"), await addWorktree(repository, "two")];
    for (const { path } of [one, two]) {
      writeFileSync(join(path, "b.txt"), "mine\n");
      commit(path, "mine");
    }
    git(one.path, "checkout", "-q", "--detach", "main");
    const [found = one] = await listWorktrees(repository);
    expect(await worktreeState(found)).toMatchObject({ branch: "HEAD", commits: 1, files: 0 });
    expect((await endWorktree(found, "patch", "m")).message).toContain("The branch stays: hermes/one. ");
    git(repository, "checkout", "-q", "--detach");
    expect((await endWorktree(two, "merge", "m")).message).toContain("The branch stays: hermes/two.");
    expect(git(repository, "branch", "--format=%(refname:short)", "--contains", "HEAD")).toContain("hermes/two");
  });

  test.each(["merge", "branch"] as const)("on no branch does not end as a %s, and is discarded", async (end) => {
    const worktree = await addWorktree(repository, "one");
    git(worktree.path, "checkout", "-q", "--detach");
    writeFileSync(join(worktree.path, "a.txt"), "two\n");
    const [found = worktree] = await listWorktrees(repository);
    await expect(endWorktree(found, end, "m")).rejects.toThrow("is on no branch");
    expect(readFileSync(join(worktree.path, "a.txt"), "utf8")).toBe("two\n");
    expect((await endWorktree(found, "discard", "m")).message).toContain("and its branch.");
    expect(git(repository, "branch", "--format=%(refname:short)")).toBe("main");
  });

  test("is discarded when its set-up is stopped, and the set-up with it", async () => {
    const stop = new AbortController();
    const setup = ["touch begun; while :; do sleep 0.05; done", "touch ../later"];
    const making = makeWorktree(repository, "one", { copy: [], setup }, stop.signal);
    const begun = join(folder, "shop.worktrees", "one", "begun");
    await vi.waitUntil(() => existsSync(begun), { timeout: 20_000 });
    stop.abort(new Error("stopped"));
    await expect(making).rejects.toThrow("stopped");
    expect(existsSync(join(folder, "shop.worktrees"))).toBe(false);
    expect(git(repository, "branch", "--format=%(refname:short)")).toBe("main");
  });

  test("shows changes of texts alone: no link that leads nowhere, no folder, nothing over a megabyte", async () => {
    for (const name of ["large.txt", "link", ":odd [name]*.txt", "folder"])
      writeFileSync(join(repository, name), "one\n");
    writeFileSync(join(repository, "was-large.txt"), "x".repeat(1_000_001));
    commit(repository, "more");
    const worktree = await addWorktree(repository, "one");
    const at = (name: string): string => join(worktree.path, name);
    symlinkSync("nowhere", at("new-link"));
    symlinkSync("itself", at("itself"));
    rmSync(at("link"));
    symlinkSync("nowhere", at("link"));
    rmSync(at("folder"));
    mkdirSync(at("folder"));
    writeFileSync(at("folder/inside.txt"), "two\n");
    writeFileSync(at("large.txt"), "x".repeat(1_000_001));
    writeFileSync(at("was-large.txt"), "small\n");
    writeFileSync(at(":odd [name]*.txt"), "two\n");
    const { files, total } = await worktreeChanges(worktree);
    const file = (name: string, text: string | null, isThere = true) => ({ path: at(name), text, isThere });
    expect(total).toBe(8);
    expect(new Set(files)).toEqual(
      new Set([
        file(":odd [name]*.txt", "one\n"),
        file("folder", "one\n", false),
        file("link", "one\n", false),
        file("folder/inside.txt", null),
      ]),
    );
  });

  test("of the user's own in the same folder is not listed", async () => {
    await addWorktree(repository, "one");
    git(repository, "worktree", "add", "-q", "-b", "mine", join(folder, "shop.worktrees", "mine"));
    expect((await listWorktrees(repository)).map(({ branch }) => branch)).toEqual(["hermes/one"]);
  });
});
