import { linkSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { judgeCommand } from "../../../agent-core/approval/command-verdict.ts";
import { protectedReason } from "../../../agent-core/approval/protected-paths.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-protected-")));
const home = realpathSync(mkdtempSync(join(tmpdir(), "hermes-home-of-user-")));
const scope = { cwd: root, roots: [root], home, hermesHome: join(home, ".hermes"), resolvePath };
/** Not joined: `..` behind a link is the link's business. */
const isProtected = (path: string): boolean => protectedReason(`${root}/${path}`, scope) !== undefined;

beforeAll(() => {
  mkdirSync(join(root, ".git/hooks"), { recursive: true });
  mkdirSync(join(root, "src/deep"), { recursive: true });
  writeFileSync(join(root, ".git/config"), "");
  writeFileSync(join(root, "src/a.ts"), "");
  symlinkSync(".git", join(root, "link"));
  symlinkSync("link", join(root, "link-of-link"));
  symlinkSync(".vscode/tasks.json", join(root, "dangling"));
  symlinkSync(home, join(root, "to-home"));
  symlinkSync("loop-b", join(root, "loop-a"));
  symlinkSync("loop-a", join(root, "loop-b"));
  symlinkSync("../.git", join(root, "src/up"));
  symlinkSync("src/deep", join(root, "into"));
});

test.each([
  "link/config",
  "link/hooks/new-hook",
  "link-of-link/hooks/new/below",
  "dangling",
  "to-home/.bashrc",
  "to-home/not-there-yet/x",
  "src/up/config",
  "src/deep/../up/config",
])("a symbolic link is what it leads to: %s", (path) => {
  expect(isProtected(path)).toBe(true);
});

test.each([
  "into/../.git/config",
  "missing/../.git/config",
  "missing/../link/config",
  "a/b/../../link/hooks/x",
  "./src/.././.env",
])("%s goes up before it goes down", (path) => {
  expect(isProtected(path)).toBe(true);
});

test("a folder that the command itself makes first opens no way around", () => {
  for (const command of [
    "mkdir m; echo x > m/../link/config",
    "mkdir -p m/n && cp src/a.ts m/n/../../link/hooks/pre-commit",
  ]) {
    expect([command, judgeCommand(command, scope).alwaysAskReasons.length > 0]).toEqual([command, true]);
  }
});

test.each([
  ".GIT/config",
  ".Git/HOOKS/x",
  ".vsCode/settings.json",
  "Agents.MD",
  ".ENV",
  ".env.LOCAL",
  ".git./config",
  ".git /config",
  ".gi\u200dt/config",
  "git~1/config",
  ".git::$INDEX_ALLOCATION/config",
])("a name is what any file system may take it for: %s", (path) => {
  expect(isProtected(path)).toBe(true);
});

test.each([
  ".gitignore",
  ".github/README.md",
  ".env.example",
  "environment.ts",
  "src/git/config",
  "agents.ts",
  "docs/vscode/a.md",
  "new/folder/of/mine.ts",
  "into/x.ts",
])("an ordinary file is not protected: %s", (path) => {
  expect(isProtected(path)).toBe(false);
});

test("below folders that do not exist yet, names count as anywhere", () => {
  expect(isProtected("new/deep/.vscode/tasks.json")).toBe(true);
  expect(isProtected("new/deep/.git/hooks/x")).toBe(true);
  expect(isProtected(`${"x/".repeat(500)}.env`)).toBe(true);
});

test("links in a circle lead nowhere, and take no exception", () => {
  expect(isProtected("loop-a")).toBe(false);
  expect(isProtected("loop-a/.git/config")).toBe(true);
});

test("a hard link to a protected file cannot be made unasked", () => {
  for (const command of [
    "ln .git/config plain",
    "ln -f .env plain",
    "cp -l .git/config plain",
    "link .git/config plain",
  ]) {
    expect([command, judgeCommand(command, scope).level]).toEqual([command, "ask"]);
  }
  linkSync(join(root, "src/a.ts"), join(root, "src/b.ts"));
  expect(isProtected("src/b.ts")).toBe(false);
});

test.each([
  ".devcontainer.json",
  ".helix/languages.toml",
  ".woodpecker/build.yml",
  ".lefthook.yaml",
  "lefthook-local.yml",
  "sub/.lintstagedrc.json",
  "opencode.jsonc",
  ".goosehints",
  ".hg/hgrc",
  "app.sublime-project",
])("%s runs code or steers an agent, and asks", (path) => {
  expect(isProtected(path)).toBe(true);
});

test.each(["docs/agent.md", "lefthook.md", "rules.md", "opencode.ts", "src/hgrc.ts", "lintstaged.md"])(
  "%s is an ordinary file",
  (path) => {
    expect(isProtected(path)).toBe(false);
  },
);
