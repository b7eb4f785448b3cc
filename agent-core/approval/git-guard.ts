/**
 * Guard of git: commands that would change protected files of a work tree are recognised from git's own trees before they
 * begin. One script answers the policy, and stands before git where a command runs. So a script or an unread program that
 * runs git never leaves a tree that is half changed: the sandbox mounts protected files read-only, and git would skip them.
 */
import { createHash } from "node:crypto";
import { existsSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gitLayoutSync } from "../host/git-layout.ts";
import { runScriptSync } from "../host/read-git.ts";
import { quote } from "../host/terminals/preamble.ts";
import type { Bind } from "../host/terminals/sandbox/sandboxed-run.ts";
import { findProgram } from "../platform/find-program.ts";
import type { CommandScope } from "./command-scope.ts";
import { CHANGING, SCRIPT } from "./git-guard-script.ts";
import { filesAt } from "./guarded-paths.ts";
import { PROTECTED_PATTERN, TEMPLATE_PATTERN } from "./protected-paths.ts";

/** Place of git itself where the guard covers its path: the sandbox has an empty folder at `/run`. */
const REAL_GIT = "/run/.hermes/git";

/** Text of the guard. `git`: program to start. `open`: guarded files (absolute) that git may change. */
function guardText(git: string, scope: CommandScope, open: readonly string[]): string {
  const values = {
    git,
    roots: scope.roots.map((root) => scope.resolvePath(root)).join("\n"),
    open: open.join("\n"),
    protected: PROTECTED_PATTERN,
    templates: TEMPLATE_PATTERN,
    input: "",
    fetches: "",
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}=${quote(value)}`);
  return ["#!/bin/sh", ...lines, SCRIPT].join("\n");
}

/**
 * Guarded files (absolute) that git with these words would change in `folder`; empty where git cannot know. Git answers
 * from the trees that the command would put in place, or compare.
 */
export function filesChangedBy(words: readonly string[], folder: string, scope: CommandScope): readonly string[] {
  const verb = words.find((word, at) => !word.startsWith("-") && words[at - 1] !== "-c");
  if (verb === undefined || !CHANGING.includes(verb) || gitLayoutSync(folder) === undefined) return [];
  const output = runScriptSync(folder, `lists=1\n${guardText("git", scope, [])}`, words);
  return (output ?? "").split("\n").filter((path) => path.startsWith("/"));
}

/** Path of the guard as a file in `folder`, which no command may write. */
function storeGuard(folder: string, text: string): string {
  const path = join(folder, `git-guard-${createHash("sha256").update(text).digest("hex").slice(0, 16)}`);
  if (!existsSync(path)) writeFileSync(path, text, { mode: 0o755 });
  return path;
}

/**
 * Puts the guard at git's place in the sandbox. `folder`: private, and hidden in the sandbox. macOS has no mounts; there as
 * here, git's folders are read-only for commands that do not call git (`confinement.ts`).
 */
export function gitGuardBinds(folder: string, scope: CommandScope, open: readonly string[]): readonly Bind[] {
  const found = process.platform === "linux" ? findProgram("git") : undefined;
  if (found === undefined || !existsSync("/run")) return [];
  const git = realpathSync(found);
  const from = storeGuard(folder, guardText(REAL_GIT, scope, open));
  return [
    { kind: "read-only", path: REAL_GIT, from: git },
    { kind: "read-only", path: git, from },
  ];
}

/** Line that puts the guard before git for a command outside of the sandbox. */
export function guardedLine(command: string, folder: string, scope: CommandScope, open: readonly string[]): string {
  const guard = storeGuard(folder, guardText("git", scope, open));
  return `git() { command sh ${quote(guard)} "$@"; }; ${command}`;
}

/** Files that git may change in one command. */
export type OpenedFiles = {
  /** Binds of one guarded path: none for a file that git may change, and one for each of its neighbours in a folder. */
  bindsOf(path: string, guard: Bind): readonly Bind[];
  /** Paths that git made or replaced without being allowed to. `fresh`: guarded paths that are new. */
  unexpected(fresh: readonly string[]): readonly string[];
};

/** `open`: files (absolute) that git may change. */
export function openedFiles(open: readonly string[]): OpenedFiles {
  const opened = new Set(open);
  const folders = new Map<string, ReadonlySet<string>>();
  const holds = (path: string): boolean => open.some((file) => file.startsWith(`${path}/`));
  const neighbours = (path: string): readonly string[] => filesAt(path).filter((file) => !opened.has(file));
  return {
    bindsOf(path, guard) {
      if (opened.has(path)) return [];
      if (!holds(path)) return [guard];
      folders.set(path, new Set(neighbours(path)));
      return neighbours(path).map((file): Bind => ({ kind: "read-only", path: file }));
    },
    unexpected(fresh) {
      const others = fresh.filter((path) => !opened.has(path) && !holds(path));
      const inside = [...new Set([...fresh.filter(holds), ...folders.keys()])].flatMap((path) =>
        neighbours(path).filter((file) => folders.get(path)?.has(file) !== true),
      );
      return [...others, ...inside];
    },
  };
}
