/** Runs a call that edits files, and tells the model what the edit has broken. */
import type { EditedFile, FileProblems, Problem, ReportedProblem } from "../../host/problems.ts";
import { messageOf } from "../../platform/errors.ts";
import { shownPath } from "../resolve-path.ts";
import type { FileDiff, StagedCall, ToolContext, ToolResult } from "../tool.ts";
import { newProblems } from "./new-problems.ts";

/** Told of one edit; a broken header can break every file. */
const TOLD = 20;
/** Characters of a message: some compilers explain at length. */
const MESSAGE_CHARS = 300;

/** Runs a staged call; where it changed files, its result says what is wrong since then. */
export async function watchedEdit(
  { diffs, run }: Extract<StagedCall, { ok: true }>,
  { host, callId, cwd, signal }: Pick<ToolContext, "host" | "callId" | "cwd" | "signal">,
): Promise<ToolResult> {
  if (diffs.length === 0) return run();
  const watch = await host.problems.watch(callId);
  const result = await run();
  const written = (result.diffs ?? []).map((diff, _, diffs) => withOldText(diff, diffs));
  if (written.length === 0) return result;
  const found = await watch.settled(written, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    return messageOf(error);
  });
  // The edit is made, whoever looks at it afterwards.
  if (typeof found === "string") return { ...result, text: `${result.text}\n[not checked for problems: ${found}]` };
  const problems = broken(found, written);
  if (problems.length === 0) return result;
  const told = problems.slice(0, TOLD).map((problem): ReportedProblem => {
    const { path, line, severity } = problem;
    return { path, line, severity, text: toldProblem(problem, shownPath(path, cwd)) };
  });
  const more = problems.length > TOLD ? [`[… ${problems.length - TOLD} more]`] : [];
  const lines = ["New problems since this edit:", ...told.map(({ text }) => text), ...more];
  return { ...result, text: [result.text, ...lines].join("\n"), problems: told };
}

/** A moved file is compared with the text that it had where it stood. */
function withOldText(diff: FileDiff, diffs: readonly FileDiff[]): EditedFile {
  const { movedFrom, oldText } = diff;
  if (movedFrom === undefined || oldText !== null) return diff;
  return { ...diff, oldText: diffs.find(({ path }) => path === movedFrom)?.oldText ?? null };
}

type FoundProblem = Problem & { readonly path: string };

/** Errors first; those of the edited files before others. */
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
function toldProblem({ line, column, severity, message, source, code }: Problem, shown: string): string {
  const [words = ""] = message.replaceAll(/\s+/g, " ").match(new RegExp(`^.{0,${MESSAGE_CHARS}}`, "u")) ?? [];
  const finder = [source, code].filter((part) => part !== undefined && part !== "").join(" ");
  return `${shown}:${line}:${column} ${severity}: ${words.trim()}${finder === "" ? "" : ` (${finder})`}`;
}
