/** The verdict on a command: parsed, walked, every effect judged where it would happen; the worst of them counts. */

import { messageOf } from "../platform/errors.ts";
import { inspectText } from "./inspect-text.ts";
import { parseCommand } from "./parse-command.ts";
import type { CommandScope } from "./scope.ts";
import { UNKNOWN } from "./shell/arg.ts";
import { Recorder, TooMuchToJudge, worst } from "./shell/recorder.ts";
import { initialState } from "./shell/state.ts";
import { NO_INPUT, type Walk } from "./shell/walk.ts";
import { walkWords } from "./shell/walk-command.ts";
import { walkBody, walkScript } from "./shell/walk-script.ts";
import type { Verdict } from "./verdict.ts";

/** Reasons that a person still reads. */
const MAX_REASONS = 12;

/**
 * Judges a command before it runs. Pure but for `where.resolvePath`. What is not understood asks; what would wipe the
 * disk or the home, write raw devices, start a fork bomb, kill everything or stop the machine is blocked.
 */
export function judgeCommand(command: string, where: CommandScope): Verdict {
  const record = new Recorder();
  const defect = inspectText(command);
  if (defect?.level === "block") record.block(defect.reason);
  else if (defect?.readable === false) record.giveUp(defect.reason);
  else if (defect) record.askAlways(defect.reason);
  if (defect?.readable !== false) judgeCode(command, where, record);
  return verdictOf(record);
}

function judgeCode(command: string, where: CommandScope, record: Recorder): void {
  const walk = createWalk({ ...where, resolvePath: remembered(where.resolvePath) }, record);
  try {
    walk.code(command, { state: initialState(where), input: NO_INPUT, parallel: false, calls: [] });
  } catch (error) {
    // Whatever went wrong while judging, an answer must not be taken from it: a person decides.
    const why =
      error instanceof TooMuchToJudge || error instanceof RangeError ? "it unfolds into too many steps" : error;
    record.giveUp(`The command cannot be judged: ${messageOf(why)}`);
  }
}

/** The same path is asked for again and again; within one verdict the answer is one. */
function remembered(resolvePath: (path: string) => string): (path: string) => string {
  const known = new Map<string, string>();
  return (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
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
      record.reading(code);
      const parsed = parseCommand(code);
      if (parsed.ok) return walkScript(parsed.script, setting, walk);
      record.giveUp(parsed.reason);
      return UNKNOWN;
    },
    body: (body, setting) => walkBody(body, setting, walk),
  };
  return walk;
}

function verdictOf(record: Recorder): Verdict {
  const { findings, readOnly } = record;
  const blocks = findings.filter(({ level }) => level === "block");
  // The reason for a block comes first, then what asks in every mode.
  const ordered = [...blocks, ...findings.filter(({ always, level }) => always && level !== "block"), ...findings];
  const reasons = [...new Set(ordered.map(({ reason }) => reason))];
  const always = [...new Set(findings.filter((finding) => finding.always).map(({ reason }) => reason))];
  return {
    level: worst(findings),
    reasons: reasons.slice(0, MAX_REASONS),
    readOnly,
    isWhole: record.isWhole,
    isContained: record.isContained,
    always: always.slice(0, MAX_REASONS),
    loose: { ...record.loose },
    parts: record.parts(),
  };
}
