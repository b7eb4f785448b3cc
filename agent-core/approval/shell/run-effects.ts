/** Turns the effects of a program into findings, and walks the commands that the program runs. */
import type { CommandEffect, Input } from "../command-effect.ts";
import { judgePath } from "../judge-path.ts";
import { shown, TOKEN, UNKNOWN } from "./arg.ts";
import { forkState, NO_INPUT, type Output, type Setting, type ShellState, type Walk } from "./shell-state.ts";

/** Judges all effects of one call. Returns the output of a command that the program runs. */
export function runEffects(effects: readonly CommandEffect[], setting: Setting, walk: Walk): Output {
  let output: Output = UNKNOWN;
  for (const effect of effects) output = runEffect(effect, setting, walk) ?? output;
  return output;
}

function runEffect(effect: CommandEffect, setting: Setting, walk: Walk): Output | undefined {
  const { record } = walk;
  switch (effect.kind) {
    case "read":
    case "write":
    case "delete":
    case "permissions":
      judgePath(effect, { scope: walk.scope, record, cwds: setting.state.cwds });
      return undefined;
    case "change":
      record.markChanged();
      return undefined;
    case "ask":
      if (effect.runsCode) record.askForCode(effect.reason, effect.grant);
      else record.ask(effect.reason, effect.grant);
      return undefined;
    case "opaque":
      record.askUnknown(effect.reason);
      return undefined;
    case "block":
      record.block(effect.reason);
      return undefined;
    case "command": {
      const state = forkState(setting.state);
      if (effect.cwd) state.cwds = foldersOf(effect.cwd.text, state);
      const input: Input = effect.input ?? setting.input;
      return record.nested(() => walk.command(effect.words, { ...setting, state, input }));
    }
    case "shell":
      return runShell(effect, setting, walk);
  }
}

/** Walks shell code that a program runs. Code with unknown pieces asks; its known pieces may still escalate. */
export function runShell(
  effect: Extract<CommandEffect, { kind: "shell" }>,
  setting: Setting,
  walk: Walk,
): Output | undefined {
  const { record } = walk;
  const state = effect.here ? setting.state : forkState(setting.state);
  if (!effect.here) state.positional = effect.positional ?? [];
  if (effect.zero) state.variables.set("0", [effect.zero]);
  const inner = { ...setting, state, input: effect.here ? setting.input : NO_INPUT };
  const hidden = effect.code.includes(UNKNOWN);
  if (!hidden && !effect.escalateOnly) return record.nested(() => walk.code(effect.code.replaceAll(TOKEN, "0"), inner));
  if (hidden && !effect.escalateOnly)
    record.askUnknown(`Runs shell code that is not known before it runs: ${shown(effect.code)}`);
  const readable = effect.code.replaceAll(UNKNOWN, "$hermes_unknown").replaceAll(TOKEN, "0");
  record.escalateOnly(() => record.nested(() => walk.code(readable, { ...inner, state: forkState(state) })));
  return undefined;
}

/** Folders that a relative or absolute path leads to; undefined when they are not known. */
export function foldersOf(path: string, state: ShellState): readonly string[] | undefined {
  if (path.includes(UNKNOWN) || path.includes(TOKEN)) return undefined;
  if (path.startsWith("/")) return [path];
  return state.cwds?.map((cwd) => `${cwd}/${path}`);
}
