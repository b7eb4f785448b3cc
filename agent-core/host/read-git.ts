/** Reads repositories by the user's git. Never writes to one, and never runs a program of it. */
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { statOf } from "../platform/paths.ts";
import { type GitLayout, gitLayout, gitLayoutSync } from "./git-layout.ts";
import { type GitResult, type GitSetting, runGit, runGitScriptSync, runGitSync } from "./run-git.ts";

/** A setting as git reads it for a repository. */
export type ScopedSetting = {
  /** `system`, `global`, `local`, `worktree`, or `command` for those of this process. */
  readonly scope: string;
  /** Section and name in lower case; a name in the middle as it is written. */
  readonly key: string;
  readonly value: string;
};

type GitOptions = {
  readonly input?: string;
  /** Default 20,000. */
  readonly timeoutMs?: number;
};

/** Output of git for the repository around `folder` (absolute); undefined without one, and when git fails or takes too long. */
export async function readGit(
  folder: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<Buffer | undefined> {
  const folders = plausible(await gitLayout(folder));
  if (folders === undefined) return undefined;
  const settings = withoutPrograms(fresh(folders) ?? keep(folders, await runGit(LIST, { cwd: folders.own, folders })));
  if (settings === undefined) return undefined;
  const { exitCode, stdout } = await runGit(args, { cwd: folder, folders, settings, ...options });
  return exitCode === 0 ? stdout : undefined;
}

/** The same at once. */
export function readGitSync(folder: string, args: readonly string[], options: GitOptions = {}): Buffer | undefined {
  const folders = plausible(gitLayoutSync(folder));
  if (folders === undefined) return undefined;
  const settings = withoutPrograms(settingsOf(folders));
  if (settings === undefined) return undefined;
  const { exitCode, stdout } = runGitSync(args, { cwd: folder, folders, settings, ...options });
  return exitCode === 0 ? stdout : undefined;
}

/** Output of a shell script that only reads by git; undefined without a repository, and when the script fails. */
export function runScriptSync(folder: string, script: string, words: readonly string[]): string | undefined {
  const folders = plausible(gitLayoutSync(folder));
  const settings = folders && withoutPrograms(settingsOf(folders));
  if (settings === undefined) return undefined;
  const { exitCode, stdout } = runGitScriptSync(script, words, { cwd: folder, folders, settings });
  return exitCode === 0 ? stdout.toString() : undefined;
}

/** A repository whose settings come from a folder that does not know it may have been put together by another program. */
function plausible(layout: GitLayout | undefined): GitLayout | undefined {
  return layout !== undefined && (layout.isMutual || layout.own === layout.common) ? layout : undefined;
}

const LIST = ["config", "--list", "--show-scope", "--show-origin", "--null"];

type Known = { readonly settings: readonly ScopedSetting[]; readonly files: readonly string[]; readonly state: string };

/** Settings by git folder. They hold until a file changes that git read for them. */
const known = new Map<string, Known>();
/** Two changes within this time may leave the same time of change. Milliseconds. */
const CLOCK_TICK_MS = 50;

/**
 * All settings that git reads for the repository around `folder` (absolute), with those of the user and the machine.
 * Undefined without a repository, and when git cannot read them.
 */
export function gitSettings(folder: string): readonly ScopedSetting[] | undefined {
  const folders = plausible(gitLayoutSync(folder));
  return folders && settingsOf(folders);
}

function settingsOf(folders: GitLayout): readonly ScopedSetting[] | undefined {
  return fresh(folders) ?? keep(folders, runGitSync(LIST, { cwd: folders.own, folders }));
}

function fresh({ own }: GitLayout): readonly ScopedSetting[] | undefined {
  const answer = known.get(own);
  return answer && stateOf(answer.files) === answer.state ? answer.settings : undefined;
}

function keep(folders: GitLayout, { exitCode, stdout }: GitResult): readonly ScopedSetting[] | undefined {
  if (exitCode !== 0) return undefined;
  const { own, common } = folders;
  const settings: ScopedSetting[] = [];
  const files = new Set([join(common, "config"), join(own, "config.worktree"), ...PERSONAL]);
  const texts = stdout.toString().split("\0");
  for (let at = 0; at + 2 < texts.length; at += 3) {
    const [scope = "", origin = "", text = ""] = texts.slice(at, at + 3);
    const end = text.indexOf("\n");
    const [key, value] = end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end + 1)];
    if (scope !== "command") settings.push({ scope, key, value });
    if (!origin.startsWith("file:")) continue;
    const file = resolve(own, origin.slice("file:".length));
    files.add(file);
    if (INCLUDED.test(`${key} ${value}`)) files.add(resolve(dirname(file), value.replace(/^~(?=\/)/, homedir())));
  }
  const isWhole = settings.every(({ key, value }) => !key.startsWith("include") || INCLUDED.test(`${key} ${value}`));
  const isOld = [...files].every((path) => Date.now() - (statOf(path)?.ctimeMs ?? 0) > CLOCK_TICK_MS);
  if (isWhole && isOld) known.set(own, { settings, files: [...files], state: stateOf([...files]) });
  return settings;
}

/** Settings that include a file, now or once it is there, on any branch; not with paths that git alone resolves. */
const INCLUDED = /^include(?:if\.(?:gitdir(?:\/i)?|hasconfig:.*):.*)?\.path (?!~[^/]|[%:]\()/s;
const PERSONAL = [join(homedir(), ".gitconfig"), join(homedir(), ".config", "git", "config"), "/etc/gitconfig"];

function stateOf(files: readonly string[]): string {
  const stats = files.map(statOf).map((stat) => stat && [stat.dev, stat.ino, stat.ctimeMs, stat.size]);
  return JSON.stringify(stats);
}

/** Settings with a name of the repository's own that start a program. A file with a filter then counts as changed. */
const PROGRAM =
  /^(?:filter\..*\.(?:clean|smudge|process)|diff\..*\.(?:command|textconv)|merge\..*\.driver|hook\..*\.command)$/;

function withoutPrograms(settings: readonly ScopedSetting[] | undefined): readonly GitSetting[] | undefined {
  const programs = settings?.filter(({ key }) => PROGRAM.test(key));
  return programs?.flatMap(({ key }): GitSetting[] => [
    [key, ""],
    ...(key.startsWith("filter.") ? [[key.replace(/[^.]+$/, "required"), "false"] as const] : []),
  ]);
}

/** The status of a large work tree may take seconds. Nobody waits that long for it. */
const STATUS_TIMEOUT_MS = 2_000;

export type ChangedFile = {
  /** One or two letters of git: `M`, `A`, `??` … */
  readonly status: string;
  /** Relative to the repository. */
  readonly path: string;
};

/** Changed and new files; undefined without git, and when git fails or takes too long. Submodules are left out. */
export async function changedFiles(root: string): Promise<readonly ChangedFile[] | undefined> {
  // Git would run again in each submodule, whose settings are not checked.
  const args = ["status", "--porcelain", "-z", "--ignore-submodules=all"];
  const output = await readGit(root, args, { timeoutMs: STATUS_TIMEOUT_MS });
  return output && [...changesIn(output.toString().split("\0"))];
}

function* changesIn(entries: readonly string[]): Generator<ChangedFile> {
  let isOldName = false;
  for (const entry of entries) {
    if (entry !== "" && !isOldName) yield { status: entry.slice(0, 2).trim(), path: entry.slice(3) };
    isOldName = !isOldName && /^[RC]/.test(entry); // the old name of a renamed file is an entry of its own
  }
}
