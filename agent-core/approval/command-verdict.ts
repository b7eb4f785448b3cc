/** Verdict on a command: the command is parsed and walked, every effect is judged, and the worst effect counts. */
import { messageOf } from "../platform/errors.ts";
import type { CommandScope } from "./command-scope.ts";
import { findTextDefect, parseCommand } from "./parse-command.ts";
import { walkPowerShell } from "./powershell/walk-powershell.ts";
import { UNKNOWN } from "./shell/arg.ts";
import { type CommandPart, type Level, type Reach, Recorder, TooMuchToJudge, worst } from "./shell/recorder.ts";
import { initialState, NO_INPUT, type Walk } from "./shell/shell-state.ts";
import { walkWords } from "./shell/walk-command.ts";
import { walkBody, walkScript } from "./shell/walk-script.ts";
import { judgeUnread } from "./unread-command.ts";

/** Maximum number of reasons in a question; people do not read more. */
const MAX_REASONS = 12;

/** Judgement of a whole command. */
export type CommandVerdict = {
  readonly level: Level;
  /** Reasons in one plain sentence each: the action and its object. Empty when safe. */
  readonly reasons: readonly string[];
  /** The command changes no file, no process, no repository, and sends nothing. */
  readonly readOnly: boolean;
  /** False when a part could not be parsed. The command may be worse than `level`, and never runs unasked. */
  readonly isFullyParsed: boolean;
  /** A sandbox confines every effect. */
  readonly isContained: boolean;
  /** Reach that the command needs. */
  readonly reach: Reach;
  /** Those of `reasons` that ask even in `auto` mode: protected paths, and effects that are not known before it runs. */
  readonly alwaysAskReasons: readonly string[];
  /** Effects outside of every simple command, which no grant covers: redirections into files, sensitive variables. */
  readonly outsideCommands: { readonly asks: boolean; readonly changes: boolean };
  /** Secret files of the workspace that the command may print without naming them: `grep -r KEY .`. */
  readonly reachedSecrets: readonly string[];
  /** Some of them come out of a repository, where no sandbox can hide them. */
  readonly printsHistory: boolean;
  /** Unread code of the project runs: its tests, its build, a script of its packages. */
  readonly runsProject: boolean;
  /** Names of the variables that the command sets. */
  readonly variables: readonly string[];
  /** Real paths that the command itself writes or deletes; a path that is not known is empty. */
  readonly writes: readonly string[];
  /** Guarded files (absolute) that commands of git would change: they must be writable, or git leaves a mixed tree. */
  readonly treeFiles: readonly string[];
  /** Every simple command, wrapped and nested ones too, in the order of the walk. */
  readonly parts: readonly CommandPart[];
};

/**
 * Judges a command before it runs. Pure except for `scope.resolvePath`. A command that is not understood asks. A command
 * that wipes the disk or the home, writes raw devices, kills everything or stops the machine is blocked.
 */
export function judgeCommand(command: string, scope: CommandScope): CommandVerdict {
  const record = new Recorder();
  const defect = findTextDefect(command);
  if (defect?.level === "block") record.block(defect.reason);
  else if (defect?.readable === false) record.markUnparsed(defect.reason);
  else if (defect) record.askAlways(defect.reason);
  const { language = "sh" } = scope;
  const isRead = defect?.readable !== false && (language === "sh" || scope.powerShell !== undefined);
  if (isRead) judgeCode(command, scope, record);
  else if (language !== "sh") judgeUnread(command, language, scope, record);
  return verdictOf(record);
}

function judgeCode(command: string, scope: CommandScope, record: Recorder): void {
  const walk = createWalk({ ...scope, resolvePath: cached(scope.resolvePath) }, record);
  try {
    const setting = { state: initialState(scope), input: NO_INPUT, parallel: false, calls: [] };
    if (scope.powerShell === undefined) walk.code(command, setting);
    else if (!walkPowerShell(command, scope.powerShell, setting, walk))
      judgeUnread(command, "powershell", scope, record);
  } catch (error) {
    // An incomplete walk must not lower the verdict.
    const cause =
      error instanceof TooMuchToJudge || error instanceof RangeError ? "it expands into too many steps" : error;
    record.markUnparsed(`The command cannot be judged: ${messageOf(cause)}`);
  }
  checkScripts(record);
}

/** A script that the same command changes is not the one that was read. */
function checkScripts(record: Recorder): void {
  const { writes } = record;
  const scripts = record.parts().flatMap((part) => part.scripts.map(({ path }) => path.replace(/#.*$/, "")));
  const changed = scripts.find((path) => [...writes].some((write) => `${path}/`.startsWith(`${write}/`)));
  if (changed !== undefined) record.askUnknown(`Runs ${changed}, which the same command may change`);
  if (writes.size > 0 && record.findings.some(({ reason }) => /^Sets PATH to/i.test(reason)))
    record.askUnknown("Runs programs of other folders, in which the same command may write");
}

/** Caches `resolvePath` for one verdict, which asks for the same paths again and again. */
function cached(resolvePath: (path: string) => string): (path: string) => string {
  const known = new Map<string, string>();
  return (path) => {
    const cachedPath = known.get(path);
    if (cachedPath !== undefined) return cachedPath;
    const real = resolvePath(path);
    known.set(path, real);
    return real;
  };
}

/** Reason why the code of a text, which another program may hand to a shell, is blocked. */
function wipes(code: string, scope: CommandScope): string | undefined {
  const record = new Recorder();
  try {
    const setting = { state: initialState(scope), input: NO_INPUT, parallel: false, calls: [] };
    createWalk(scope, record, true).code(code, setting);
  } catch {
    // A text that takes too long is no command.
  }
  return record.findings.find(({ level }) => level === "block")?.reason;
}

function createWalk(scope: CommandScope, record: Recorder, isInner = false): Walk {
  const walk: Walk = {
    scope,
    record,
    script: (script, setting) => walkScript(script, setting, walk),
    command: (words, setting) => walkWords(words, setting, walk),
    code(code, setting) {
      record.countCode(code);
      const parsed = parseCommand(code);
      if (parsed.ok) return walkScript(parsed.script, setting, walk);
      record.markUnparsed(parsed.reason);
      return UNKNOWN;
    },
    body: (body, setting) => walkBody(body, setting, walk),
    wipes: (code) => (isInner ? undefined : wipes(code, scope)),
  };
  return walk;
}

function verdictOf(record: Recorder): CommandVerdict {
  const { findings, readOnly } = record;
  const blocks = findings.filter(({ level }) => level === "block");
  // Blocks come first, then what asks in every mode, and what no sandbox holds.
  const ordered = [
    ...blocks,
    ...findings.filter(({ always, level }) => always && level !== "block"),
    ...findings.filter(({ contained }) => contained !== true),
    ...findings,
  ];
  const reasons = [...new Set(ordered.map(({ reason }) => reason))];
  const always = [...new Set(findings.filter((finding) => finding.always).map(({ reason }) => reason))];
  return {
    level: worst(findings),
    reasons: shortened(reasons),
    readOnly,
    isFullyParsed: record.isWhole,
    isContained: record.isContained,
    reach: record.widestReach,
    alwaysAskReasons: shortened(always),
    outsideCommands: { ...record.outsideCommands },
    reachedSecrets: [...record.reachedSecrets],
    printsHistory: record.printsHistory,
    runsProject: record.runsProject,
    variables: [...record.variables],
    writes: [...record.writes],
    treeFiles: [...record.treeFiles],
    parts: record.parts(),
  };
}

/** Reasons of the same kind with the same end: `Deletes a.txt`, `Writes to b: it is outside the workspace`. */
const KIND = /^(Deletes|Reads|Writes to|Runs the program|Sets|Contacts) (\S+)((?: recursively)?(?::.*|, which .*)?)$/;
/** Names that one sentence has. */
const MAX_JOINED = 5;

/** Reasons that only differ in a name become one, in the place of the first. */
function joined(reasons: readonly string[]): readonly string[] {
  const kinds = new Map<string, string[]>();
  for (const reason of reasons) {
    const [, verb, name, end] = KIND.exec(reason) ?? [reason];
    const key = verb === undefined ? reason : `${verb} \0${end}`;
    kinds.set(key, [...(kinds.get(key) ?? []), ...(name === undefined ? [] : [name])]);
  }
  return [...kinds].map(([key, names]) => {
    const more = names.length - MAX_JOINED;
    const shown = names.slice(0, MAX_JOINED).join(", ") + (more > 0 ? ` and ${more} more` : "");
    return key.replace("\0", () => shown);
  });
}

function shortened(reasons: readonly string[]): readonly string[] {
  const whole = joined(reasons);
  const more = whole.length - MAX_REASONS;
  return more > 0 ? [...whole.slice(0, MAX_REASONS), `And ${more} more`] : whole;
}
