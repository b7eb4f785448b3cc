/** Runs a call that edits files, and reports the problems that the edit caused. */
import { setTimeout as delay } from "node:timers/promises";
import type { EditedFile, FileProblems, Problem, ReportedProblem } from "../host/host.ts";
import { messageOf } from "../platform/errors.ts";
import { shownPath } from "./shown-path.ts";
import type { FileDiff, StagedCall, ToolContext, ToolResult } from "./tool.ts";
import { diffIslands } from "./unified-diff.ts";

/** Problems in one result; a broken header can break every file. */
const MAX_REPORTED = 20;
/** Characters of a message: some compilers explain at length. */
const MESSAGE_CHARS = 300;

/** A result with the problems that came after the call had returned, and their text. */
export type LateProblems = (result: ToolResult, text: string) => void;

/**
 * Runs a staged call; when it changed files, its result lists the new problems. The call returns without problems that
 * take longer, and `onLate` gets them.
 */
export async function watchedEdit(
  { diffs, run }: Extract<StagedCall, { ok: true }>,
  { host, callId, cwd, signal }: Pick<ToolContext, "host" | "callId" | "cwd" | "signal">,
  onLate: LateProblems,
): Promise<ToolResult> {
  if (diffs.length === 0) return run();
  const watch = await host.problems.watch(callId);
  const result = await run();
  const written = (result.diffs ?? []).map((diff, _, diffs) => withOldText(diff, diffs));
  if (written.length === 0) return result;
  const checked = watch.settled(written, signal).then(
    (found) => report(broken(found, written), cwd),
    // The edit succeeded, even when the check fails.
    (error: unknown) => ({ text: `[could not check for problems: ${messageOf(error)}]`, problems: undefined }),
  );
  const { waitMs } = watch;
  const found = await (waitMs === undefined ? checked : Promise.race([checked, delay(waitMs, undefined)]));
  signal.throwIfAborted();
  if (found !== undefined) return withReport(result, found);
  void checked.then((late) => {
    if (late.problems === undefined || signal.aborted) return;
    const names = written.map(({ path }) => shownPath(path, cwd)).join(", ");
    onLate(withReport(result, late), `[Found after the edit of ${names}] ${late.text}`);
  });
  return result;
}

type Report = { readonly text: string; readonly problems: readonly ReportedProblem[] | undefined };

function withReport(result: ToolResult, { text, problems }: Report): ToolResult {
  if (text === "") return result;
  return { ...result, text: `${result.text}\n${text}`, ...(problems && { problems }) };
}

/** An empty text without problems. */
function report(problems: readonly FoundProblem[], cwd: string): Report {
  if (problems.length === 0) return { text: "", problems: undefined };
  const reported = problems.slice(0, MAX_REPORTED).map((problem): ReportedProblem => {
    const { path, line, severity } = problem;
    return { path, line, severity, text: reportText(problem, shownPath(path, cwd)) };
  });
  const more = problems.length > MAX_REPORTED ? [`[… ${problems.length - MAX_REPORTED} more]`] : [];
  const lines = ["New problems since this edit:", ...reported.map(({ text }) => text), ...more];
  return { text: lines.join("\n"), problems: reported };
}

/** A moved file is compared with its text at the old path. */
function withOldText(diff: FileDiff, diffs: readonly FileDiff[]): EditedFile {
  const { movedFrom, oldText } = diff;
  if (movedFrom === undefined || oldText !== null) return diff;
  return { ...diff, oldText: diffs.find(({ path }) => path === movedFrom)?.oldText ?? null };
}

type FoundProblem = Problem & { readonly path: string };

/** New problems: errors first, and those of the edited files before others. */
function broken(found: readonly FileProblems[], written: readonly EditedFile[]): readonly FoundProblem[] {
  const rank = ({ path, severity }: FoundProblem): number =>
    (severity === "error" ? 0 : 2) + (written.some((diff) => diff.path === path) ? 0 : 1);
  return found
    .flatMap((file) => {
      const edit = written.find(({ path }) => path === file.path);
      const moved = found.filter(({ path }) => path === edit?.movedFrom);
      const before = [file, ...moved].flatMap((one) => one.before);
      return newProblems({ ...file, before }, edit).map((problem) => ({ path: file.path, ...problem }));
    })
    .toSorted((one, other) => rank(one) - rank(other));
}

/** `src/a.ts:3:7 error: ';' expected. (ts 1005)` */
function reportText({ line, column, severity, message, source, code }: Problem, shown: string): string {
  const [words = ""] = message.replaceAll(/\s+/g, " ").match(new RegExp(`^.{0,${MESSAGE_CHARS}}`, "u")) ?? [];
  const finder = [source, code].filter((part) => part !== undefined && part !== "").join(" ");
  return `${shown}:${line}:${column} ${severity}: ${words.trim()}${finder === "" ? "" : ` (${finder})`}`;
}

/** Lines of both texts that differ, 0-based; the ends are exclusive. */
type ChangedLines = {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
};

/**
 * Problems of `after` without those of `before`. Problems are equal when they have the same text on the same line, mapped
 * through the edit; within rewritten lines, on any of them. `edit` is undefined for a file that was not edited itself.
 */
export function newProblems({ before, after }: FileProblems, edit: EditedFile | undefined): readonly Problem[] {
  if (before.length === 0 || after.length === 0) return after;
  const changes = edit === undefined ? [] : changedLines(edit.oldText ?? "", edit.newText ?? "");
  const known = new Map<string, number>();
  for (const problem of before) {
    const key = `${placeInOld(problem.line - 1, changes)} ${contentOf(problem)}`;
    known.set(key, (known.get(key) ?? 0) + 1);
  }
  return after.filter((problem) => {
    const key = `${placeInNew(problem.line - 1, changes)} ${contentOf(problem)}`;
    const count = known.get(key) ?? 0;
    if (count > 0) known.set(key, count - 1);
    return count === 0;
  });
}

function contentOf({ severity, source, code, message }: Problem): string {
  return JSON.stringify([severity, source, code, message]);
}

/** Number of the line in the new text, or the change that the line belongs to. */
function placeInOld(line: number, changes: readonly ChangedLines[]): string {
  let moved = 0;
  for (const [index, { oldFrom, oldTo, newTo }] of changes.entries()) {
    if (line < oldFrom) break;
    if (line < oldTo) return `change ${index}`;
    moved = newTo - oldTo;
  }
  return String(line + moved);
}

function placeInNew(line: number, changes: readonly ChangedLines[]): string {
  const index = changes.findIndex(({ newFrom, newTo }) => line >= newFrom && line < newTo);
  return index < 0 ? String(line) : `change ${index}`;
}

function changedLines(oldText: string, newText: string): readonly ChangedLines[] {
  const oldLine = lineCounter(oldText);
  const newLine = lineCounter(newText);
  return diffIslands(oldText, newText).map(({ oldFrom, oldTo, newFrom, newTo }) => ({
    oldFrom: oldLine(oldFrom),
    oldTo: oldLine(oldTo),
    newFrom: newLine(newFrom),
    newTo: newLine(newTo),
  }));
}

/** Returns the line of an offset. Offsets must grow from call to call; an end within the last line counts that line. */
function lineCounter(text: string): (offset: number) => number {
  let at = 0;
  let line = 0;
  return (offset) => {
    for (let next = text.indexOf("\n", at); next >= 0 && next < offset; next = text.indexOf("\n", at)) {
      line += 1;
      at = next + 1;
    }
    return offset === text.length && at < offset ? line + 1 : line;
  };
}
