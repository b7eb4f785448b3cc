/** Hooks that are commands: one process for each event, with the event as JSON on its input. */
import { commandEnvironment } from "../host/terminals/command-environment.ts";
import type { Confine } from "../host/terminals/terminals.ts";
import { type FilterEnd, runFilter, shellFor } from "../platform/children/run-filter.ts";
import { attempt } from "../platform/errors.ts";
import { withinTime } from "../platform/within-time.ts";
import { type Hook, type HookEvent, type HookPayload, type HookVerdict, IN_HOOK_VARIABLE } from "./hook.ts";
import { hookVerdict } from "./hook-answer.ts";

/** Limit of a hook's output: it may run a whole test suite. One that prints more has failed. Bytes. */
const MAX_OUTPUT = 16 * 1024 ** 2;
/** Longest timeout of a hook, as in the original Hermes Agent. Seconds. */
export const MAX_TIMEOUT_SECONDS = 300;

/**
 * Outer shell between the hook and this process, so that a hook that kills its parent kills the shell. The inner shell
 * runs the command, as in Claude Code bash where there is one; the outer one exits with its code.
 */
const OUTER = 'inner=$(command -v bash || echo sh); "$inner" -c "$1"; exit $?';

/** A hook of a configuration file. */
export type CommandHook = {
  readonly event: HookEvent;
  /** Pattern of the file; undefined for all tools. */
  readonly matcher: string | undefined;
  readonly command: string;
  readonly timeoutSeconds: number;
  readonly failClosed: boolean;
};

/** Surroundings of the commands of a session. */
export type CommandPlace = {
  /** Absolute. */
  readonly cwd: string;
  /** Folder of the Hermes home, absolute. */
  readonly home: string;
  /** See `HostTerminals.confine`. Hooks of the workspace run in it. Default: with the user's rights. */
  readonly confine?: Confine | undefined;
  /** Names of variables with our API keys. */
  readonly withheld: readonly string[];
  /** Until the user trusts the workspace, no command runs in it. */
  readonly trusted: () => boolean;
};

/** A hook of the home's config.yaml. It runs in the session's folder, or in the home while the workspace is untrusted. */
export function homeHook(definition: CommandHook, place: CommandPlace): Hook {
  const { event, matcher, command, timeoutSeconds, failClosed } = definition;
  return {
    event,
    label: command,
    origin: "home",
    failClosed,
    timeoutMs: timeoutSeconds * 1_000,
    ...(matcher !== undefined && { matcher: matcherOf(matcher) }),
    async run(payload, signal): Promise<HookVerdict> {
      const cwd = place.trusted() ? place.cwd : place.home;
      const end = await runHookCommand({ command, place: { ...place, cwd }, env: {} }, payload, signal);
      return hookVerdict(end, payload);
    },
  };
}

/** Limit for one name. A workspace's pattern may need hours for it. */
const MATCH_MS = 20;

/**
 * The pattern matches a whole name. A pattern that is not a regular expression is a name itself. One that takes too long
 * matches, because a guard must not miss a call.
 */
export function matcherOf(pattern: string): (tool: string) => boolean {
  const known = new Map<string, boolean>();
  const whole = wholeOf(pattern);
  if (whole === undefined) return (tool) => tool === pattern;
  return (tool) => {
    const matches = known.get(tool) ?? withinTime(MATCH_MS, () => whole.test(tool))?.value ?? true;
    known.set(tool, matches);
    return matches;
  };
}

/** Undefined for a pattern that is not a regular expression. */
export function wholeOf(pattern: string): RegExp | undefined {
  return attempt(() => new RegExp(`^(?:${pattern})$`));
}

export type CommandRun = {
  readonly command: string;
  readonly place: CommandPlace;
  /** Runs it in the sandbox where there is one. Default: it runs with the user's rights. */
  readonly confine?: Confine | undefined;
  /** Further variables. */
  readonly env: Readonly<Record<string, string>>;
};

/** Runs a command with JSON on its input. Rejects with a reason in one line when it did not end by itself. */
export async function runHookCommand(
  { command, place: { cwd, home, withheld }, env, confine }: CommandRun,
  payload: Readonly<Record<string, unknown>> | HookPayload,
  signal: AbortSignal,
): Promise<FilterEnd> {
  const passed = { HERMES_HOME: home, ...env, [IN_HOOK_VARIABLE]: "1" };
  const shell = shellFor(command, [OUTER, "hermes-hook", command]);
  const confined = await confine?.({ command: shell.program, args: shell.args, cwd, lasts: false });
  const { program, args } = confined === undefined ? shell : { program: confined.command, args: confined.args };
  const variables = { ...commandEnvironment({ withheld, passed }, undefined), ...confined?.env };
  const request = { program, args, cwd, env: variables, input: JSON.stringify(payload), maxOutput: MAX_OUTPUT };
  return runFilter(request, signal).finally(() => confined?.end());
}
