/** Facts about a repository that decide on git's commands, as git itself reads them. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { gitLayoutSync, repositoryOf } from "../host/git-layout.ts";
import { gitSettings, readGitSync, type ScopedSetting } from "../host/read-git.ts";
import { entriesOf } from "../platform/paths.ts";
import type { RemoteBranches } from "./command-effect.ts";
import { areOfGitFolder } from "./git-folders.ts";

/** True when git runs hooks in `folder` (absolute): installed ones, those of its settings, or those of a tool. */
export function hasHooks(folder: string): boolean {
  const settings = gitSettings(folder);
  if (settings === undefined) return repositoryOf(folder) !== undefined;
  return settings.some(({ key }) => HOOK_SETTING.test(key)) || hasInstalledHooks(folder);
}

const HOOK_SETTING = /^(?:core\.hookspath$|hook\.)/;

function hasInstalledHooks(folder: string): boolean {
  const layout = gitLayoutSync(folder);
  const hooks = layout === undefined ? [] : entriesOf(join(layout.common, "hooks"));
  const hasTool = layout?.top !== undefined && existsSync(join(layout.top, ".husky"));
  return hasTool || hooks.some(({ name }) => !name.endsWith(".sample"));
}

/** True when the setting `key` of git has a true value in `folder`. A name without a value is true. */
export function isOn(folder: string, key: string): boolean {
  return IS_ON.test(gitSettings(folder)?.findLast((setting) => setting.key === key)?.value ?? "no");
}

/** Values of git that are true. */
export const IS_ON = /^(?!(?:false|no|off|0+)$)/i;

/** Settings by which git starts a program while it reads, changes or fetches. */
const RUNS =
  /^(?:core\.(?:fsmonitor|sshcommand|gitproxy|askpass|editor)|sequence\.editor|filter\..*\.(?:clean|smudge|process)|diff\.external|diff\..*\.(?:command|textconv)|merge\..*\.driver|interactive\.difffilter|gpg\.(?:.*\.)?program|trailer\..*\.(?:cmd|command)|credential\.(?:.*\.)?helper|remote\..*\.(?:vcs|uploadpack|receivepack))$/;
/** Their values that start nothing, or a program of git's own. */
const RUNS_NOTHING = /^(?:|true|false|git-lfs [\w %-]+|(?:store|cache|osxkeychain|libsecret|manager)(?: --?[\w=-]+)*)$/;

/** Setting or hook by which the repository around `folder` itself starts a program, even when git only reads. */
export function programOfRepository(folder: string): string | undefined {
  const settings = gitSettings(folder)?.filter(({ scope }) => scope === "local" || scope === "worktree") ?? [];
  const setting = settings.find(({ key, value }) => RUNS.test(key) && !RUNS_NOTHING.test(value));
  if (setting !== undefined) return `its setting ${setting.key}`;
  const layout = gitLayoutSync(folder);
  const hook = layout && join(layout.common, "hooks", "post-index-change");
  return hook !== undefined && existsSync(hook) ? "its hook post-index-change" : undefined;
}

/** Settings that git itself writes when it clones a repository, adds remotes, worktrees and submodules, and makes branches. */
const PLAIN_SETTINGS =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|worktree|sparsecheckout|sparsecheckoutcone)|extensions\.(?:worktreeconfig|relativeworktrees|objectformat|refstorage)|remote\..+\.(?:url|fetch|tagopt|prune)|branch\..+\.(?:remote|merge|rebase|vscode-merge-base)|submodule\..+\.(?:url|active)|user\.(?:name|email)|pull\.(?:rebase|ff)|push\.default|init\.defaultbranch|commit\.gpgsign)$/;
const PLAIN_ADDRESS = /^(?:https:\/\/|ssh:\/\/(?!-)|git:\/\/|(?:[\w.-]+@)?\w[\w.-]*:(?!:))[^\s]*$/;

/**
 * True when nothing in the repository around `folder` makes git run a program, or use another address, while it contacts a
 * remote. The settings of the user and of the machine are the user's own.
 */
export function isPlainRepository(folder: string): boolean {
  if (repositoryOf(folder) === undefined) return true; // without a repository git contacts nothing
  const layout = gitLayoutSync(folder);
  const settings = gitSettings(folder);
  if (layout === undefined || settings === undefined || hasHooks(folder)) return false;
  // Old forms of remotes, which git reads beside its settings, and submodules, which it would fetch, too.
  const hasMore = ["remotes", "branches", "modules"].some((name) => entriesOf(join(layout.common, name)).length > 0);
  return !hasMore && settings.every(isPlain);
}

function isPlain({ scope, key, value }: ScopedSetting): boolean {
  if (scope === "system" || scope === "global") return true;
  return PLAIN_SETTINGS.test(key) && (!key.endsWith(".url") || PLAIN_ADDRESS.test(value));
}

/**
 * True when the repository around `folder` knows the branches of its remote, and a pull takes only the branch that the
 * checked out one follows.
 */
export function followsBranches(folder: string, { remote, refs, pulls }: RemoteBranches): boolean {
  if (repositoryOf(folder) === undefined) return true;
  const settings = new Map(gitSettings(folder)?.map(({ key, value }) => [key, value]));
  if (!settings.has(`remote.${remote}.url`)) return false;
  const find = (ref: string) =>
    readGitSync(folder, ["rev-parse", "--verify", "--quiet", `refs/remotes/${remote}/${ref}`]);
  if (!pulls) return refs.every((ref) => find(ref) !== undefined);
  const branch = readGitSync(folder, ["symbolic-ref", "--quiet", "--short", "HEAD"])?.toString().trim();
  const followed = settings.get(`branch.${branch}.merge`);
  return settings.get(`branch.${branch}.remote`) === remote && refs.every((ref) => followed === `refs/heads/${ref}`);
}

/** True when `folder` lies in a bare repository inside `root`: git would use the settings that the checkout brought. */
export function isInBareRepository(folder: string, root: string): boolean {
  for (let at = folder; at.startsWith(root); at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return false;
    if (areOfGitFolder(entriesOf(at).map(({ name }) => name))) return true;
    if (dirname(at) === at) return false;
  }
  return false;
}
