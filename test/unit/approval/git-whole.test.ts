import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test as anyTest, describe, expect } from "vitest";
import { guardedLine } from "../../../agent-core/approval/git-guard.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";
import { branches, commit, git, LAYOUTS, newFolder, write } from "../../support/git-repositories.ts";
import { hasSandbox } from "../../support/programs.ts";
import { clone, repository, session } from "./support/git-session.ts";

const test = anyTest.runIf(hasSandbox());
function state(folder: string): readonly string[] {
  return [git(folder, "rev-parse", "HEAD"), git(folder, "status", "--porcelain"), git(folder, "ls-files", "--stage")];
}

/** A program that the policy does not read. */
function unread(folder: string, line: string): void {
  const code = `process.exit(require("node:child_process").spawnSync(${JSON.stringify(line)}, { shell: true, stdio: "inherit" }).status ?? 1);\n`;
  write(folder, { "tool.cjs": code });
}

const isBorrowing = (folder: string): boolean => existsSync(join(folder, ".git/objects/info/alternates"));

describe.each(Object.entries(LAYOUTS))("in %s", (_, make) => {
  test("a checkout of protected files asks once, and leaves the tree of its branch", async () => {
    const folder = make(newFolder());
    const it = session(folder);
    const decision = it.judge("git checkout other");
    expect(decision).toMatchObject({ kind: "ask", isProtected: true, grant: undefined });
    expect(JSON.stringify(decision)).toMatch(/Changes protected files[^"]*ci\.yml[^"]*CLAUDE\.md/);
    const ran = await it.run("git checkout other");
    expect(ran).toMatchObject({ exitCode: 0, notes: [] });
    expect(git(folder, "symbolic-ref", "--short", "HEAD")).toBe("other");
    expect(git(folder, "status", "--porcelain")).toBe("");
    expect(git(folder, "fsck", "--no-dangling")).toBe("");
  });

  test("a program that runs the same checkout changes nothing, and says which files it would change", async () => {
    const folder = make(newFolder());
    const it = session(folder);
    unread(folder, "git checkout other");
    const before = state(folder);
    const ran = await it.run("node tool.cjs");
    expect(ran.output).toMatch(isBorrowing(folder) ? /fatal: bad object|unable to/ : /was not started.*CLAUDE\.md/);
    expect(ran.exitCode).not.toBe(0);
    expect(state(folder)).toEqual(before);
  });

  test("a branch without protected files is checked out unasked", async () => {
    const folder = make(newFolder());
    const it = session(folder);
    // b.txt lies outside of a subfolder, and borrowed objects outside of the workspace
    if (/\/sub$/.test(folder) || isBorrowing(folder)) return expect(it.judge("git checkout plain").kind).toBe("ask");
    expect(it.judge("git checkout plain")).toEqual({ kind: "allow", sandbox: "isolated" });
    expect(await it.run("git checkout plain")).toMatchObject({ exitCode: 0, notes: [] });
    expect(git(folder, "status", "--porcelain")).toBe("");
  });
});

test.each([
  "git checkout other",
  "git switch other",
  "git switch -c mine other",
  "git merge other",
  "git merge --no-ff -m join other",
  "git rebase other",
  "git cherry-pick other",
  "git reset --hard other",
  "git restore --source=other --worktree --staged .",
  "git checkout other -- CLAUDE.md AGENTS.md a.txt",
  "git read-tree -m -u HEAD other",
  "git apply --index .git/other.patch",
  "git am .git/other.patch",
])("%s names the protected files that it changes, and does all of it", async (command) => {
  const folder = repository();
  writeFileSync(join(folder, ".git/other.patch"), `${git(folder, "format-patch", "-1", "--stdout", "other")}\n`);
  const expected = git(folder, "rev-parse", "other^{tree}");
  const it = session(folder);
  expect(JSON.stringify(it.judge(command))).toContain("CLAUDE.md");
  expect(it.judge(command, "plan").kind).toBe("deny");
  expect(it.judge(command, "auto").kind).toBe("ask");
  const ran = await it.run(command);
  expect([ran.exitCode, ran.output, ran.notes]).toEqual([0, expect.any(String), []]);
  expect(git(folder, "diff", "--stat")).toBe("");
  const isDeleted = /checkout other --/.test(command); // the workflow is not on that branch
  if (!isDeleted) expect(git(folder, "write-tree")).toBe(expected);
});

test.each([
  "git checkout plain && git checkout other",
  "git checkout -q plain; git merge -q other -m x",
  'git checkout "$(git branch --list other | tr -d " *")"',
  "B=other; git switch $B",
  "git branch later other && git switch later",
  "git fetch -q . other && git reset -q --hard FETCH_HEAD",
  "npm run release",
  "bash x.sh",
  "make go",
  "python3 x.py",
  "git -c alias.co=checkout co other",
])("%s never leaves a tree that is half changed", async (command) => {
  const folder = repository();
  write(folder, {
    "package.json": JSON.stringify({ scripts: { release: "git checkout other && echo done" } }),
    "x.sh": "#!/bin/bash\nset -e\nfor b in plain other; do git checkout $b; done\n",
    Makefile: "go:\n\tgit checkout other\n",
    "x.py": "import subprocess\nsubprocess.run(['git', 'checkout', 'other'], check=True)\n",
  });
  const untracked = git(folder, "status", "--porcelain");
  const it = session(folder);
  await it.run(command);
  expect(git(folder, "status", "--porcelain")).toBe(untracked);
});

// As in the sandbox of macOS, which mounts nothing.
test.each([
  ["git checkout other", "ask", "whole"],
  ["bash x.sh", "ask", "whole"],
  ["npm run -s release", "ask", "whole"],
  ["node tool.cjs", "allow", "refused"],
])("%s leaves no half tree although no guard can stand before git: %s, %s", async (command, kind, end) => {
  const folder = repository();
  const release = "git checkout other";
  write(folder, { "package.json": JSON.stringify({ scripts: { release } }), "x.sh": `${release}\n` });
  unread(folder, release);
  const [before, untracked] = [state(folder), git(folder, "status", "--porcelain")];
  const it = session(folder, false);
  expect(it.judge(command).kind).toBe(kind);
  const { output } = await it.run(command);
  if (end === "refused") {
    expect(output).toMatch(/Unable to create '.*index\.lock': (?:Read-only file system|Operation not permitted)/);
    expect(state(folder)).toEqual(before);
  } else
    expect([git(folder, "branch", "--show-current"), git(folder, "status", "--porcelain")]).toEqual([
      "other",
      untracked,
    ]);
});

describe("in a checkout of the tool repo, whose .git is a folder of links", () => {
  const linked = (): string => {
    const base = newFolder();
    branches(write(base, { "tree/c.txt": "" }) && join(base, "tree"));
    const [tree, store] = [join(base, "tree/.git"), join(base, ".repo/projects/tree.git")];
    mkdirSync(store, { recursive: true });
    for (const name of ["config", "description", "hooks", "info", "logs", "objects", "refs"]) {
      renameSync(join(tree, name), join(store, name));
      symlinkSync(`../../.repo/projects/tree.git/${name}`, join(tree, name));
    }
    return join(base, "tree");
  };

  test.each(["git log --oneline -1", "git show other:a.txt", "git diff plain"])("%s runs unasked", async (command) => {
    const it = session(linked());
    expect(it.judge(command).kind).toBe("allow");
    expect(await it.run(command)).toMatchObject({ exitCode: 0, notes: [], output: expect.stringMatching(/\S/) });
  });

  test.each(["git checkout -q plain", "git commit -q --allow-empty -m x", "git merge -q plain"])(
    "%s asks, and does all of it",
    async (command) => {
      const folder = linked();
      const it = session(folder);
      expect(it.judge(command)).toMatchObject({ kind: "ask" });
      expect(await it.run(command)).toMatchObject({ exitCode: 0, notes: [] });
      expect(git(folder, "status", "--porcelain")).toBe("");
      git(folder, "fsck");
    },
  );

  test("a program that runs git changes nothing", async () => {
    const folder = linked();
    unread(folder, "git checkout plain");
    const before = state(folder);
    expect((await session(folder).run("node tool.cjs")).exitCode).not.toBe(0);
    expect(state(folder)).toEqual(before);
  });
});

test("a copy of an archive asks, is written without protected files, and the result says where they are", async () => {
  const folder = repository();
  const it = session(folder);
  const command = "git archive --prefix=copy/ HEAD | tar x";
  expect(it.judge(command).kind).toBe("ask");
  const { exitCode, notes } = await it.run(command);
  expect([exitCode, readFileSync(join(folder, "copy/a.txt"), "utf8")]).toEqual([0, "one\n"]);
  const [, kept = ""] = /copy\/CLAUDE\.md is protected .* moved to (\S+)/.exec(notes.join("\n")) ?? [];
  expect([existsSync(join(folder, "copy/CLAUDE.md")), readFileSync(kept, "utf8")]).toEqual([false, "main\n"]);
  expect(git(folder, "status", "--porcelain")).toBe("?? copy/");
});

test("a copy of the index asks for its protected files, and is whole", async () => {
  const folder = repository();
  const it = session(folder);
  const command = "git checkout-index -a --prefix=copy/";
  expect(JSON.stringify(it.judge(command))).toContain("copy/CLAUDE.md");
  expect(await it.run(command)).toMatchObject({ exitCode: 0, notes: [] });
  expect(readFileSync(join(folder, "copy/CLAUDE.md"), "utf8")).toBe("main\n");
});

test.each([
  "git checkout other --pathspec-from-file=list",
  "git checkout --pathspec-from-file list other",
  "git restore -s other --pathspec-from-file=list",
  "git restore --source other --pathspec-fr list --pathspec-file-nul",
  "git rm -q --pathspec-from-file=list",
  "git stash push --pathspec-from-file=list",
  "git reset -q --har other",
  "git checkout -q --forc plain",
  ...`git checkout --pathspec-from-file --quit other|git checkout --pathspec-from-file -- other
git checkout --conflict merge other|git merge -m --show-current-patch other|git merge -qm --edit-todo other
git merge -m --quit other|git merge -m -- other|git merge -mfixes other|git rebase -x --quit other
git worktree add --lock --reason --quit sub/wt other|git worktree add --reason -- sub/wt other
git bisect start --term-old --quit other main|git am --resolvemsg=x .git/other.patch
git apply --exclude --check .git/other.patch|git sparse-checkout set --skip-checks docs
git read-tree --reset -u other^{tree}|git read-tree -m -u HEAD other^{tree}
git read-tree --prefix=.vscode/ -u other|git read-tree --prefix .vscode -u other^{tree}
git checkout-index -a -f --prefix=.vscode/|git checkout-index -a --pre copy/`.split(/[|\n]/),
])("%s names the protected files, though no word does", (command) => {
  const folder = write(repository(), { "CLAUDE.md": "dirty\n", list: "CLAUDE.md\n" });
  writeFileSync(join(folder, ".git/other.patch"), `${git(folder, "format-patch", "-1", "--stdout", "other")}\n`);
  expect(JSON.stringify(session(folder).judge(command))).toContain("CLAUDE.md");
});

test("a stash of a dirty protected file asks, and both ways are whole", async () => {
  const folder = write(repository(), { "CLAUDE.md": "dirty\n", "a.txt": "dirty\n" });
  const it = session(folder);
  expect(it.judge("git stash push -m later -- a.txt").kind).toBe("allow");
  for (const command of ["git stash push -qm later", "git stash push --message x", "git stash"])
    expect(JSON.stringify(it.judge(command))).toContain("Changes protected files: CLAUDE.md");
  expect((await it.run("git stash")).exitCode).toBe(0);
  expect(git(folder, "status", "--porcelain")).toBe("");
  expect(JSON.stringify(it.judge("git stash pop"))).toContain("Changes protected files: CLAUDE.md");
  expect((await it.run("git stash pop")).exitCode).toBe(0);
  expect(readFileSync(join(folder, "CLAUDE.md"), "utf8")).toBe("dirty\n");
});

test("an answer opens the named files alone", async () => {
  const folder = repository();
  commit(folder, "more", { ".github/workflows/deploy.yml": "main\n", ".vscode/settings.json": "{}\n" });
  git(folder, "checkout", "-q", "-b", "third");
  commit(folder, "third", { ".github/workflows/deploy.yml": "third\n" });
  git(folder, "checkout", "-q", "main");
  const it = session(folder);
  const command =
    "git checkout -q third; echo x > .github/workflows/ci.yml; echo x > .github/workflows/new.yml; echo x > .vscode/settings.json";
  expect(it.judge(command).kind).toBe("ask");
  const { sandbox, writable } = it.judge("git checkout -q third");
  expect([sandbox, writable]).toEqual(["isolated", [join(folder, ".github/workflows/deploy.yml")]]);
  unread(
    folder,
    "echo x > .github/workflows/ci.yml; echo x > .github/workflows/new.yml; echo x > .vscode/settings.json",
  );
  const ran = await it.run("git checkout -q third; node tool.cjs");
  expect(git(folder, "status", "--porcelain")).toBe("?? tool.cjs");
  expect(existsSync(join(folder, ".github/workflows/new.yml"))).toBe(false);
  expect(ran.notes.join()).toContain("new.yml");
});

test("a merge in progress, a conflict in a protected file, and its end are whole", async () => {
  const folder = repository();
  commit(folder, "ours", { "CLAUDE.md": "ours\n" });
  const it = session(folder);
  const head = git(folder, "rev-parse", "HEAD");
  expect(JSON.stringify(it.judge("git merge other"))).toContain("CLAUDE.md");
  expect((await it.run("git merge other")).output).toContain("CONFLICT");
  expect(git(folder, "diff", "--name-only", "--diff-filter=U")).toBe("CLAUDE.md");
  expect(JSON.stringify(it.judge("git merge --abort"))).toContain("CLAUDE.md");
  expect((await it.run("git merge --abort")).exitCode).toBe(0);
  expect([git(folder, "status", "--porcelain"), git(folder, "rev-parse", "HEAD")]).toEqual(["", head]);
});

test("a detached head and an unborn branch are judged, too", async () => {
  const folder = repository();
  git(folder, "checkout", "-q", "--detach");
  expect(JSON.stringify(session(folder).judge("git checkout other"))).toContain("CLAUDE.md");
  git(folder, "checkout", "-q", "--orphan", "empty");
  git(folder, "rm", "-rq", "--cached", ".");
  git(folder, "clean", "-fdq");
  const it = session(folder);
  expect(JSON.stringify(it.judge("git merge other"))).toContain("CLAUDE.md");
  expect((await it.run("git merge other")).exitCode).toBe(0);
  expect(git(folder, "status", "--porcelain")).toBe("");
});

test("a pull brings the followed branch unasked, and stops before protected files", async () => {
  const [plain, guarded] = [clone({ "a.txt": "later\n" }), clone({ "CLAUDE.md": "later\n" })];
  const it = session(plain);
  expect(await it.run("git pull -q")).toMatchObject({ exitCode: 0 });
  expect(readFileSync(join(plain, "a.txt"), "utf8")).toBe("later\n");
  const other = session(guarded);
  const before = state(guarded);
  const ran = await other.run("git pull -q");
  expect(ran.output).toMatch(/was not started.*CLAUDE\.md.*git merge FETCH_HEAD/);
  expect(state(guarded)).toEqual(before);
  expect(JSON.stringify(other.judge("git merge FETCH_HEAD"))).toContain("Changes protected files: CLAUDE.md");
  expect((await other.run("git merge FETCH_HEAD")).exitCode).toBe(0);
  expect(git(guarded, "status", "--porcelain")).toBe("");
});

test.each([
  ["git fetch origin", "allow"],
  ["git fetch origin other", "allow"],
  ["git pull", "allow"],
  ["git pull origin main", "allow"],
  ["git pull origin other", "ask"],
  ["git pull origin pull/12/head", "ask"],
  ["git fetch origin pull/12/head", "ask"],
  ["git fetch origin +pull/12/head:refs/heads/other", "ask"],
  ["git fetch origin main:plain", "ask"],
  ["git fetch elsewhere", "ask"],
])("%s is decided by the branches that the repository follows: %s", (command, kind) => {
  const folder = clone({});
  git(folder, "remote", "set-url", "origin", "https://git.example/a.git");
  expect(session(folder).judge(command).kind).toBe(kind);
});

test("a sparse checkout, and files with a filter, are whole, too", async () => {
  const folder = repository();
  git(folder, "checkout", "-q", "-b", "big");
  git(folder, "config", "filter.big.clean", "sed s/large/pointer/");
  git(folder, "config", "filter.big.smudge", "sed s/pointer/large/");
  commit(folder, "big", { ".gitattributes": "*.bin filter=big\n", "x.bin": "large\n", "deep/CLAUDE.md": "deep\n" });
  git(folder, "checkout", "-q", "main");
  const it = session(folder);
  const decision = JSON.stringify(it.judge("git checkout big"));
  expect(decision).toContain("Changes protected files: .gitattributes, deep/CLAUDE.md");
  expect((await it.run("git checkout big")).exitCode).toBe(0);
  expect([git(folder, "status", "--porcelain"), readFileSync(join(folder, "x.bin"), "utf8")]).toEqual(["", "large\n"]);
  expect(JSON.stringify(it.judge("git sparse-checkout set src"))).toContain("deep/CLAUDE.md");
});

test("400 protected names are counted in the question, and checked out", async () => {
  const folder = repository();
  git(folder, "checkout", "-q", "-b", "many");
  commit(folder, "many", Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`p${at}/AGENTS.md`, "x\n"])));
  git(folder, "checkout", "-q", "main");
  const it = session(folder);
  expect(JSON.stringify(it.judge("git checkout many"))).toMatch(/AGENTS\.md and 392 more/);
  expect((await it.run("git checkout many")).exitCode).toBe(0);
  expect(git(folder, "status", "--porcelain")).toBe("");
});

test("a repository of 20,000 files is judged within half a second of processor time", () => {
  const folder = repository();
  const blob = git(folder, "rev-parse", "HEAD:a.txt");
  const entries = Array.from({ length: 20_000 }, (_, at) => `100644 ${blob} 0\td${at % 200}/f${at}.ts\n`);
  execFileSync("git", ["update-index", "--index-info"], { cwd: folder, input: entries.join("") });
  git(folder, "branch", "huge", git(folder, "commit-tree", "-m", "huge", "-p", "main", git(folder, "write-tree")));
  git(folder, "read-tree", "HEAD");
  expect(session(folder).judge("git checkout huge")).toEqual({ kind: "allow", sandbox: "isolated" });
  const scope = { cwd: folder, roots: [folder], home: "/home/a", hermesHome: "/home/a/.hermes", resolvePath };
  const line = guardedLine("export lists=1; git checkout huge; times", newFolder(), scope, []);
  const printed = execFileSync("bash", ["-c", line], { cwd: folder, encoding: "utf8" });
  // Processor time of all children, whatever else the machine does. Seconds.
  const seconds = [...(printed.trim().split("\n").at(-1) ?? "").matchAll(/m([\d.]+)s/g)].map(([, text]) =>
    Number(text),
  );
  expect(seconds).toHaveLength(2);
  expect(seconds.reduce((sum, each) => sum + each, 0)).toBeLessThan(0.5);
});
