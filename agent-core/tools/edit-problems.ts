/** Runs calls that edit files, and reports the problems that their edits caused. */
import type { EditedFile, FileProblems, Problem, ReportedProblem } from "../host/host.ts";
import { Deadline } from "../platform/deadline.ts";
import { messageOf } from "../platform/errors.ts";
import type { Hunk, hunksBetween } from "../platform/hunks.ts";
import { shownPath } from "./shown-path.ts";
import type { FileDiff, StagedCall, ToolContext, ToolResult } from "./tool.ts";

/** An edit waits this long for its problems: a parser takes less, a language server may take seconds. Milliseconds. */
const EDIT_WAIT_MS = 90;
/** Problems in one result; a broken header can break every file. */
const MAX_REPORTED = 20;
/** Characters of a message: some compilers explain at length. */
const MESSAGE_CHARS = 300;

/** Loaded with the first edit: a start needs no comparison. */
type Compare = typeof hunksBetween;

/** The edits of a session. The model gets each problem that they cause once. */
export class WatchedEdits {
  /** Checks that have not settled. */
  readonly #running = new Set<Promise<unknown>>();
  /** Text of each file after its last edit, and the problems that the model has got, while checks run. */
  readonly #texts = new Map<string, string>();
  readonly #reported = new Map<string, FoundIn>();
  readonly #late: Report[] = [];

  /**
   * Runs a staged call; when it changed files, its result lists the new problems. The call returns without problems that
   * take longer: `onLate` gets the result with them, and `takeLate` their text.
   */
  async run(
    { diffs, run }: Extract<StagedCall, { ok: true }>,
    { host, callId, cwd, signal }: Pick<ToolContext, "host" | "callId" | "cwd" | "signal">,
    onLate: (result: ToolResult) => void,
  ): Promise<ToolResult> {
    if (diffs.length === 0) return run();
    const [watch, compare] = await Promise.all([host.problems.watch(callId), import("../platform/hunks.ts")]);
    const result = await run();
    const written = (result.diffs ?? []).map((diff, _, diffs) => withOldText(diff, diffs));
    if (written.length === 0) return result;
    for (const { path, newText } of written) this.#texts.set(path, newText ?? "");
    const checked = watch.settled(written, signal).then(
      (found) => report(this.#newProblems(found, written, compare.hunksBetween), cwd),
      // The edit succeeded, even when the check fails.
      (error: unknown): Report => ({
        text: `[could not check for problems: ${messageOf(error)}]`,
        problems: undefined,
      }),
    );
    let found: Report | undefined;
    let returned: ToolResult | undefined;
    const ended = checked.then((all) => {
      found = all;
      this.#ended(ended);
      if (returned === undefined || all.problems === undefined || signal.aborted) return;
      const names = written.map(({ path }) => shownPath(path, cwd)).join(", ");
      this.#late.push({ ...all, text: `[Found after the edit of ${names}] ${all.text}` });
      onLate(withReport(returned, all));
    });
    this.#running.add(ended);
    await new Deadline(watch.waitMs ?? EDIT_WAIT_MS).waitFor(ended);
    signal.throwIfAborted();
    if (found !== undefined) return withReport(result, found);
    returned = result;
    return result;
  }

  /** True when an edit caused an error that the model has not got. */
  get hasLateErrors(): boolean {
    return this.#late.some(({ problems = [] }) => problems.some(({ severity }) => severity === "error"));
  }

  /** Texts of the problems that came after the results of their edits, each once. */
  takeLate(): readonly string[] {
    return this.#late.splice(0).map(({ text }) => text);
  }

  /** Resolves when no check runs, after `limitMs`, or when the signal is aborted. */
  async settled(limitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#running.size === 0) return;
    const stopped = Promise.withResolvers<void>();
    const stop = (): void => stopped.resolve();
    signal.addEventListener("abort", stop, { once: true });
    await new Deadline(limitMs).waitFor(Promise.race([Promise.all(this.#running), stopped.promise]));
    signal.removeEventListener("abort", stop);
  }

  /** An edit that begins now finds the earlier problems before it. */
  #ended(check: Promise<unknown>): void {
    this.#running.delete(check);
    if (this.#running.size > 0) return;
    this.#texts.clear();
    this.#reported.clear();
  }

  /** Errors first, and problems of the edited files before others. Later edits of the files have moved their lines. */
  #newProblems(
    found: readonly FileProblems[],
    written: readonly EditedFile[],
    compare: Compare,
  ): readonly FoundProblem[] {
    const rank = ({ path, severity }: FoundProblem): number =>
      (severity === "error" ? 0 : 2) + (written.some((edit) => edit.path === path) ? 0 : 1);
    return found
      .flatMap((file) => {
        const { path } = file;
        const text = this.#texts.get(path) ?? "";
        const edit = written.find((one) => one.path === path);
        const moved = found.filter((one) => one.path === edit?.movedFrom);
        const before = [file, ...moved].flatMap((one) => one.before);
        const fresh = newProblems({ ...file, before }, edit && { ...edit, newText: text }, compare);
        const last = this.#reported.get(path) ?? { text, problems: [] };
        const unknown = newProblems(
          { ...file, before: last.problems },
          { path, oldText: last.text, newText: text },
          compare,
        );
        const caused = fresh.filter((problem) => unknown.includes(problem));
        const known = file.after.filter((problem) => !unknown.includes(problem));
        this.#reported.set(path, { text, problems: [...known, ...caused] });
        return caused.map((problem) => ({ path, ...problem }));
      })
      .toSorted((one, other) => rank(one) - rank(other));
  }
}

type FoundIn = { readonly text: string; readonly problems: readonly Problem[] };

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

/** `src/a.ts:3:7 error: ';' expected. (ts 1005)` */
function reportText({ line, column, severity, message, source, code }: Problem, shown: string): string {
  const [words = ""] = message.replaceAll(/\s+/g, " ").match(new RegExp(`^.{0,${MESSAGE_CHARS}}`, "u")) ?? [];
  const finder = [source, code].filter((part) => part !== undefined && part !== "").join(" ");
  return `${shown}:${line}:${column} ${severity}: ${words.trim()}${finder === "" ? "" : ` (${finder})`}`;
}

/**
 * Problems of `after` without those of `before`. Problems are equal when they have the same text on the same line, mapped
 * through the edit; within rewritten lines, on any of them. `edit` is undefined for a file that was not edited itself.
 */
export function newProblems(
  { before, after }: FileProblems,
  edit: EditedFile | undefined,
  compare: Compare,
): readonly Problem[] {
  if (before.length === 0 || after.length === 0) return after;
  const changes = edit === undefined ? [] : compare(edit.oldText ?? "", edit.newText ?? "");
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
function placeInOld(line: number, changes: readonly Hunk[]): string {
  let moved = 0;
  for (const [index, { oldStart, oldLines, newLines }] of changes.entries()) {
    if (line < oldStart) break;
    if (line < oldStart + oldLines.length) return `change ${index}`;
    moved += newLines.length - oldLines.length;
  }
  return String(line + moved);
}

function placeInNew(line: number, changes: readonly Hunk[]): string {
  const index = changes.findIndex(({ newStart, newLines }) => line >= newStart && line < newStart + newLines.length);
  return index < 0 ? String(line) : `change ${index}`;
}
