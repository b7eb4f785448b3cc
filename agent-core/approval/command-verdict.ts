/** Verdict on a command: the command is parsed and walked, every effect is judged, and the worst effect counts. */

import { basename, resolve } from "node:path";
import { messageOf } from "../platform/errors.ts";
import { askAlways, opaque, unread } from "./command-effect.ts";
import type { CommandScope } from "./command-scope.ts";
import { findTextDefect, parseCommand } from "./parse-command.ts";
import { walkPowerShell } from "./powershell/walk-powershell.ts";
import { isSecretName, secretReason } from "./secret-paths.ts";
import { UNKNOWN } from "./shell/arg.ts";
import { Recorder, TooMuchToJudge } from "./shell/recorder.ts";
import { initialState, NO_INPUT, type Walk } from "./shell/shell-state.ts";
import { walkWords } from "./shell/walk-command.ts";
import { walkBody, walkScript } from "./shell/walk-script.ts";
import { judgeUnread } from "./unread-command.ts";

/** Record of a command whose walk has ended. */
export type CommandVerdict = Readonly<
  Pick<
    Recorder,
    | ("level" | "reasons" | "alwaysAskReasons" | "readOnly" | "isFullyParsed" | "isContained" | "reach" | "parts")
    | ("outsideCommands" | "reachedSecrets" | "printsHistory" | "runsProject" | "variables" | "writes" | "treeFiles")
  >
>;

/**
 * Judges a command before it runs. Pure except for `scope.resolvePath`. A command that is not understood asks. A command
 * that wipes the disk or the home, writes raw devices, kills everything or stops the machine is blocked.
 */
export function judgeCommand(command: string, scope: CommandScope): CommandVerdict {
  const record = new Recorder();
  const defect = findTextDefect(command);
  if (defect) record.add(defect);
  const { language = "sh" } = scope;
  const isRead = defect?.unread !== true && (language === "sh" || scope.powerShell !== undefined);
  if (isRead) judgeCode(command, scope, record);
  else if (language !== "sh") judgeUnread(command, language, scope, record);
  return record;
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
    record.add(unread(`The command cannot be judged: ${messageOf(cause)}`));
  }
  checkScripts(record);
  if (record.readsUnknown) checkNames(command, scope, record);
}

/** A file that is not known before it runs may be any that the command names: `read f <<< ~/.ssh/id_rsa; cat $f`. */
function checkNames(command: string, scope: CommandScope, record: Recorder): void {
  const words = command.replaceAll(/["'\\]/g, "").split(/[^\w.\-/~]+/);
  const paths = words.filter((word) => /^[~/]/.test(word) || isSecretName(basename(word)));
  const named = paths.find((word) => secretReason(resolve(scope.cwd, word.replace(/^~(?=\/)/, scope.home)), scope));
  if (named !== undefined) record.add(askAlways(`Reads a file that is not known before it runs, and names ${named}`));
}

/** A script that the same command changes is not the one that was read. */
function checkScripts(record: Recorder): void {
  const { writes } = record;
  const scripts = record.parts.flatMap((part) => part.scripts.map(({ path }) => path.replace(/#.*$/, "")));
  const changed = scripts.find((path) => [...writes].some((write) => `${path}/`.startsWith(`${write}/`)));
  if (changed !== undefined) record.add(opaque(`Runs ${changed}, which the same command may change`));
  if (writes.size > 0 && record.findings.some(({ reason }) => /^Sets PATH to/i.test(reason)))
    record.add(opaque("Runs programs of other folders, in which the same command may write"));
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

function createWalk(scope: CommandScope, record: Recorder): Walk {
  const walk: Walk = {
    scope,
    record,
    script: (script, setting) => walkScript(script, setting, walk),
    command: (words, setting) => walkWords(words, setting, walk),
    code(code, setting) {
      record.countCode(code);
      const parsed = parseCommand(code);
      if (parsed.ok) return walkScript(parsed.script, setting, walk);
      record.add(unread(parsed.reason));
      return UNKNOWN;
    },
    body: (body, setting) => walkBody(body, setting, walk),
  };
  return walk;
}
