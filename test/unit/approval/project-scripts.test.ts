import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { judgeCommand } from "../../../agent-core/approval/command-verdict.ts";
import { hasHooks } from "../../../agent-core/approval/repository.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";
import { LAYOUTS, newFolder, write } from "../../support/git-repositories.ts";

function folderWith(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "hermes-scripts-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

function verdict(command: string, root: string, cwd = root) {
  return judgeCommand(command, { cwd, roots: [root], home: "/home/a", hermesHome: "/home/a/.hermes", resolvePath });
}

const ALL = "all:\n\techo hi\n";

test.each([
  ["a value that a shell computes with brackets in its code", `X := $(shell rm -rf $(HOME)/x)\n${ALL}`],
  ["a value that a shell computes by !=", `X != rm -rf $$HOME/x\n${ALL}`],
  ["another start of a recipe line", `.RECIPEPREFIX = >\n${ALL}>rm -rf $$HOME/x\n`],
  ["another first target", `.DEFAULT_GOAL = evil\n${ALL}evil:\n\trm -rf $$HOME/x\n`],
  ["another shell for one target", `all: SHELL = /tmp/x\n${ALL}`],
  ["an included file behind a tab", `\tinclude /tmp/x.mk\n${ALL}`],
])("a makefile with %s runs code that is not read", (_, makefile) => {
  expect(verdict("make", folderWith({ Makefile: makefile }))).toMatchObject({ runsProject: true });
  expect(verdict("make", folderWith({ Makefile: ALL }))).toMatchObject({ level: "safe", runsProject: false });
});

test("a line with a tab and without a rule above it is a rule, as make reads it", () => {
  const root = folderWith({ Makefile: "X = 1\n\tall: ; rm -rf src\nbuild:\n\techo hi\n" });
  expect(verdict("make", root).reasons).toEqual(["Deletes src recursively"]);
});

test("a manifest or a makefile that is too long is not passed over for another one", () => {
  const long = "x".repeat(70_000);
  const root = folderWith({
    "package.json": JSON.stringify({ scripts: { test: "echo hi" } }),
    "sub/package.json": JSON.stringify({ scripts: { test: "rm -rf src" }, long }),
    "sub/GNUmakefile": `all:\n\trm -rf src\n# ${long}\n`,
    "sub/Makefile": ALL,
  });
  for (const command of ["npm test", "make"])
    expect(verdict(command, root, join(root, "sub"))).toMatchObject({ runsProject: true });
});

test("a linked worktree has the hooks and settings of its repository", () => {
  const tree = LAYOUTS["a linked worktree"](newFolder());
  expect(hasHooks(tree)).toBe(false);
  write(join(tree, "../repo/.git/hooks"), { "pre-commit": "#!/bin/sh\n" });
  expect(hasHooks(tree)).toBe(true);
});
