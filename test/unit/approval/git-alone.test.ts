/** Commands of git that do in a session what git alone does. */
import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { test as anyTest, expect } from "vitest";
import { commit, git, newFolder, write } from "../../support/git-repositories.ts";
import { hasSandbox } from "../../support/programs.ts";
import { clone, repository, session } from "./support/git-session.ts";

const test = anyTest.runIf(hasSandbox());

/** Everything in a work tree and its repository's settings, once git did `command` without us. */
function alone(folder: string, command: string): readonly string[] {
  const copy = newFolder();
  cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
  git(copy, "update-index", "-q", "--refresh"); // it holds the inodes of the files
  execFileSync("bash", ["-c", command], {
    cwd: copy,
    env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" },
    stdio: "pipe",
  });
  return everything(copy);
}

function everything(folder: string): readonly string[] {
  const refs = ["for-each-ref", "--format=%(refname) %(tree)"];
  const asked = [
    ["status", "--porcelain", "--ignored"],
    ["ls-files", "--stage"],
    ["config", "--local", "--list"],
    refs,
  ];
  return asked.map((args) => git(folder, ...args));
}

test.each([
  ["git checkout -q ':/^other'", "CLAUDE.md"],
  ["git checkout -q -B mine ':/^other'", "AGENTS.md"],
  ["git restore -s ':/^other' -SW .", "CLAUDE.md"],
  ["git checkout -q other && git checkout -q plain...other", "CLAUDE.md"],
  ["git restore --staged --worktree .", "docs/AGENTS.md"],
  ["git restore -SW docs", "docs/AGENTS.md"],
  ["git clean -qfd", ".idea/x.xml"],
  ["git clean -qfdx", ".env"],
  ["git clean -qfX", ".env"],
  ["git clean -qfd -e kept.txt .idea", ".idea/x.xml"],
  ["git subtree add --prefix=st other", "subtree"],
])("%s asks with the files, and does what git alone does", async (command, named) => {
  const folder = write(repository(), { ".idea/x.xml": "x\n", ".env": "A=1\n", "kept.txt": "x\n" });
  commit(folder, "docs", { "docs/AGENTS.md": "docs\n", ".gitignore": ".env\n" });
  git(folder, "rm", "-rq", "--cached", ".idea", ".env", "kept.txt");
  git(folder, "commit", "-q", "-m", "fewer");
  if (command.includes("plain...other")) git(folder, "checkout", "-q", "other");
  if (command.includes("restore")) write(folder, { "docs/AGENTS.md": "staged\n" });
  if (command.includes("restore")) git(folder, "add", "docs");
  const expected = alone(folder, command);
  const it = session(folder);
  const last = command.replace(/^.* && /, "");
  expect([it.judge(last).kind, JSON.stringify(it.judge(last))]).toEqual(["ask", expect.stringContaining(named)]);
  expect(await it.run(last)).toMatchObject({ exitCode: 0, notes: [] });
  expect(everything(folder)).toEqual(expected);
});

test("the question of git clean names only what it removes", () => {
  const folder = write(repository(), { ".idea/x.xml": "x\n", "new.txt": "x\n" });
  for (const command of ["git clean -f", "git clean -fd new.txt", "git clean -nd"])
    expect(JSON.stringify(session(folder).judge(command))).not.toContain(".idea");
});

test.each([
  "git branch -m main trunk",
  "git branch -m trunk",
  "git branch -c main copy",
  "git branch -u origin/plain",
  "git branch --unset-upstream",
  "git branch --track mine origin/plain",
  "git checkout -q -t origin/plain",
  "git switch -q --track origin/plain",
  "git sparse-checkout set docs",
])("%s writes git's settings: it asks to leave the sandbox, and does all of it", async (command) => {
  const folder = clone({});
  const expected = alone(folder, command);
  const it = session(folder);
  expect(it.judge(command)).toMatchObject({
    kind: "ask",
    reasons: expect.arrayContaining([expect.stringMatching(/^Runs outside/)]),
  });
  expect((await it.run(command)).exitCode).toBe(0);
  expect(everything(folder)).toEqual(expected);
});
