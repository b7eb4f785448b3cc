/** Turns the effects of a program into findings, and walks the commands that the program runs. */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ask, type CommandEffect, opaque, type ScriptSource } from "../command-effect.ts";
import type { CommandScope } from "../command-scope.ts";
import { judgePath, judgeWords, type PathEffect } from "../judge-path.ts";
import { parseCommand } from "../parse-command.ts";
import { isPlainCompose, packageScript, readScript } from "../project-scripts.ts";
import { trackedSecrets } from "../reached-secrets.ts";
import { followsBranches, hasHooks, isOn, isPlainRepository } from "../repository.ts";
import { downloads } from "../rules/project-tools.ts";
import { judgeVariable } from "../rules/sensitive-variables.ts";
import { type Arg, afterPrefix, shown, TOKEN, UNKNOWN, UNKNOWN_ARG } from "./arg.ts";
import { forkState, NO_INPUT, type Output, type Setting, type ShellState, type Walk } from "./shell-state.ts";

const PLAIN = { repository: isPlainRepository, compose: isPlainCompose };

export function runEffects(effects: readonly CommandEffect[], setting: Setting, walk: Walk): Output {
  let output: Output = UNKNOWN;
  for (const effect of effects) output = runEffect(effect, setting, walk) ?? output;
  return output;
}

function runEffect(effect: CommandEffect, setting: Setting, walk: Walk): Output | undefined {
  const { record } = walk;
  if (effect.kind === "script") return runScript(effect, setting, walk);
  if (effect.kind === "command") return runCommand(effect, setting, walk);
  if (effect.kind === "shell") return runShell(effect, setting, walk);
  if ("path" in effect) judgeTarget(effect, setting, walk);
  else if (effect.kind === "history") noteHistory(effect.paths, setting, walk);
  else if (effect.kind === "project") runProject(effect, setting, walk);
  else if (effect.kind === "look") look(effect, setting, walk);
  else if (effect.kind === "change") record.markChanged();
  else if (effect.kind === "finding") record.add(effect);
  else if (!isOff(effect.when, setting)) record.needs(effect.reach);
  return undefined;
}

function runProject(
  { words, hooks }: Extract<CommandEffect, { kind: "project" }>,
  { state: { cwds } }: Setting,
  { scope, record }: Walk,
): void {
  if (hooks && cwds?.every((cwd) => !hasHooks(cwd)) === true) record.markChanged();
  else record.markProject(!hooks);
  judgeWords(words, { scope, record, cwds });
}

function look(
  { of, follows }: Extract<CommandEffect, { kind: "look" }>,
  { state: { cwds } }: Setting,
  { record }: Walk,
): void {
  if (follows && cwds?.every((cwd) => followsBranches(cwd, follows)) !== true) {
    const { remote, refs, pulls } = follows;
    const what = `${pulls ? "Pulls" : "Fetches"} ${refs.join(" ") || "its default branch"} from ${remote}`;
    record.add(ask(`${what}, which this branch does not follow`));
  }
  if (of === undefined || cwds?.every(PLAIN[of]) === true) record.markLook();
  else if (of === "repository") record.markChanged();
  else record.add(ask("Reads a compose project that names other files"));
}

function isOff(key: string | undefined, { state }: Setting): boolean {
  return key !== undefined && state.cwds?.every((cwd) => !isOn(cwd, key)) === true;
}

function runCommand(
  { own, ...effect }: Extract<CommandEffect, { kind: "command" }>,
  setting: Setting,
  walk: Walk,
): Output {
  const { words, input, cwd, variables = [] } = effect;
  const [{ text: name } = UNKNOWN_ARG] = words;
  if (own && setting.state.cwds?.every((folder) => isInstalled(name, folder, walk.scope)) !== true)
    return runEffects(downloads(name, words), setting, walk);
  if (own) walk.record.markProject();
  const state = outsideShell(setting.state);
  if (cwd) state.cwds = foldersOf(cwd.text, state);
  for (const arg of variables) {
    const equals = arg.text.indexOf("=");
    const [name, value] = [arg.text.slice(0, equals), afterPrefix(arg, equals + 1)];
    judgeVariable(name, value, walk.record);
    state.variables.set(name, [value]);
  }
  return walk.record.nested(() => walk.command(words, { ...setting, state, input: input ?? setting.input }));
}

/** True when a package in a folder of packages at or above `folder` has the program, or is that package. */
function isInstalled(name: string, folder: string, scope: CommandScope): boolean {
  if (!/^\w[\w.-]*$/.test(name)) return false;
  const places = [".bin/", ""].map((inner) => scope.resolvePath(join(folder, "node_modules", inner + name)));
  return (
    places.some((path) => existsSync(path)) || (dirname(folder) !== folder && isInstalled(name, dirname(folder), scope))
  );
}

/** Before `--` git takes a word for a path when a file has this name. */
function noteHistory(words: readonly Arg[], { state }: Setting, { scope, record }: Walk): void {
  const end = words.findIndex(({ text }) => text === "--");
  for (const cwd of state.cwds ?? scope.roots) {
    const paths = words.filter(({ text }, at) =>
      end >= 0 ? at > end : !text.includes(UNKNOWN) && existsSync(resolve(cwd, text)),
    );
    record.noteSecrets(
      trackedSecrets(
        cwd,
        paths.map(({ text }) => text),
      ),
      "history",
    );
  }
}

/** Judges one path, and notes what the command itself changes. */
export function judgeTarget(effect: PathEffect, setting: Setting, { scope, record }: Walk): void {
  const { cwds } = setting.state;
  judgePath(effect, { scope, record, cwds });
  // A script stays the text that was read, whoever may run it.
  if (effect.kind === "read" || effect.kind === "permissions") return;
  const paths = effect.path.glob ? undefined : foldersOf(effect.path.text, setting.state);
  for (const path of paths ?? [""]) record.noteWrite(path === "" ? path : scope.resolvePath(path));
}

type ScriptEffect = Extract<CommandEffect, { kind: "script" }>;

function runScript(effect: ScriptEffect, setting: Setting, walk: Walk): Output {
  // A script of another folder than the workspace asks.
  if (effect.source.of === "package" && effect.source.folder)
    judgeWords([effect.source.folder], { scope: walk.scope, record: walk.record, cwds: setting.state.cwds });
  const found = (setting.state.cwds ?? []).map((cwd) => scriptOf(effect.source, cwd, walk.scope));
  if (found.length === 0 || found.length > 2) return runEffects(effect.otherwise, setting, walk);
  for (const script of found) {
    if (script && isReadable(script.text)) runText(script, effect, setting, walk);
    else runEffects(effect.otherwise, setting, walk);
  }
  return UNKNOWN;
}

function runText({ path, text, folder }: Script, effect: ScriptEffect, setting: Setting, walk: Walk): void {
  const state = effect.here ? setting.state : forkState(setting.state);
  if (!effect.here) state.cwds = [folder];
  const { positional, here } = effect;
  const shell = { kind: "shell", code: text, ...(positional && { positional }), ...(here && { here }) } as const;
  walk.record.script({ path, text }, () => runShell(shell, { ...setting, state }, walk));
}

function isReadable(code: string): boolean {
  const parsed = parseCommand(code);
  return parsed.ok && (parsed.script.errors ?? []).length === 0;
}

type Script = { readonly path: string; readonly text: string; readonly folder: string };

function scriptOf(source: ScriptSource, cwd: string, scope: CommandScope): Script | undefined {
  if (source.of === "file") return scriptFile(scope.resolvePath(resolve(cwd, source.path.text)), cwd);
  const found = packageScript(source.name, resolve(cwd, source.folder?.text ?? "."));
  if (!found) return undefined;
  const { before, code, after } = found;
  const lines = [before, `${code} "$@"`, after].filter((line) => line !== "");
  return {
    path: `${scope.resolvePath(found.folder)}/package.json#${source.name}`,
    text: lines.join("\n"),
    folder: found.folder,
  };
}

function scriptFile(path: string, folder: string): Script | undefined {
  const text = readScript(path);
  return text === undefined || !isShellScript(path, text) ? undefined : { path, text, folder };
}

function isShellScript(path: string, text: string): boolean {
  const shebang = /^#!.*/.exec(text)?.[0];
  return shebang === undefined
    ? !/\.(?:[cm]?[jt]s|py|rb|pl|php|fish|zsh|csh)$/.test(path)
    : /\b(?:ba|da|a|k)?sh\b(?! -\w*c)/.test(shebang);
}

export function runShell(
  effect: Extract<CommandEffect, { kind: "shell" }>,
  setting: Setting,
  walk: Walk,
): Output | undefined {
  const { record } = walk;
  const state = effect.here ? setting.state : outsideShell(setting.state);
  if (!effect.here) state.positional = effect.positional ?? [];
  if (effect.zero) state.variables.set("0", [effect.zero]);
  const inner = { ...setting, state, input: effect.here ? setting.input : NO_INPUT };
  if (!effect.code.includes(UNKNOWN)) return record.nested(() => walk.code(effect.code.replaceAll(TOKEN, "0"), inner));
  record.add(opaque(`Runs shell code that is not known before it runs: ${shown(effect.code)}`));
  return undefined;
}

/** State of another program: the shell's functions do not reach it. */
function outsideShell(state: ShellState): ShellState {
  return { ...forkState(state), functions: new Map(), integers: new Set() };
}

/** Folders that a relative or absolute path leads to; undefined when they are not known. */
export function foldersOf(path: string, state: ShellState): readonly string[] | undefined {
  if (path.includes(UNKNOWN) || path.includes(TOKEN)) return undefined;
  if (path.startsWith("/")) return [path];
  return state.cwds?.map((cwd) => `${cwd}/${path}`);
}
