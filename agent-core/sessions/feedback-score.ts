/** Score of a session from evidence that does not come from the model: a pure function of its journal. */
import type { EntryOf, JournalEntry } from "./entry.ts";
import { messageText } from "./index/search-text.ts";

export type FeedbackScore = {
  /** Mean of the signals, from 0 (bad) to 1 (good); null when there are none. */
  readonly score: number | null;
  /** Count of signals behind the score. */
  readonly signals: number;
};

/** A message is taken back because of the answer to it when at most this many user messages follow it. */
const REWIND_REACH = 2;

/** Programs whose exit code says whether an edit works: test runners, compilers, build tools, linters. */
const CHECK_COMMAND =
  /\b(?:(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:t|test|build|check|lint|typecheck)\b|(?:cargo|go|dotnet|swift|mvn|gradle|gradlew|make|ninja|bazel)\b|vitest|jest|mocha|pytest|tox|unittest|rspec|phpunit|ctest|tsc|eslint|biome|ruff|mypy|clippy|node\s+--test)/;

/** True for a command line that tests, builds or checks the project. */
export function isCheckCommand(command: string): boolean {
  return CHECK_COMMAND.test(command);
}

/** Openings of a message that corrects the answer before it. */
const CORRECTION =
  /^\W*(?:no\b(?!\s+(?:problem|worries))|nope\b|not (?:like )?(?:that|this)\b|that(?:'s| is) (?:not|wrong)|wrong\b|i (?:said|meant|told you|asked (?:you|for))\b|i (?:undid|reverted|took\b.{1,40}\bback)\b|(?:undo|revert) (?:that|this|it)\b|you (?:forgot|missed|broke)\b)/i;

/**
 * Mean of the signals that exist: the share of reviewed lines that were kept; the last test or build after the last edit;
 * and 0 for each correction, early rewind, refused permission, and turn that ended in an error or at its limit.
 */
export function feedbackScore(entries: readonly JournalEntry[]): FeedbackScore {
  const failures = countCorrections(entries) + countEarlyRewinds(entries) + entries.filter(isFailure).length;
  const shares = [...keptShare(entries), ...lastCheck(entries)];
  const signals = shares.length + failures;
  return { score: signals === 0 ? null : shares.reduce((sum, share) => sum + share, 0) / signals, signals };
}

/** Share of the reviewed lines that the user kept; empty without a review. */
function keptShare(entries: readonly JournalEntry[]): readonly number[] {
  const verdicts = entries.filter((entry) => entry.type === "verdict");
  const all = countLines(verdicts);
  return all === 0 ? [] : [countLines(verdicts.filter(({ outcome }) => outcome === "kept")) / all];
}

function countLines(verdicts: readonly EntryOf<"verdict">[]): number {
  return verdicts.reduce((sum, { lines }) => sum + lines, 0);
}

/** 1 or 0 for the last test or build since the last edit; empty when none ran since. */
function lastCheck(entries: readonly JournalEntry[]): readonly number[] {
  const commands = new Map(entries.flatMap((entry) => (entry.type === "message" ? commandsOf(entry) : [])));
  const decisive = entries.findLast(
    (entry) =>
      entry.type === "tool" &&
      ((entry.kind === "edit" && entry.ok) || isCheckCommand(commands.get(entry.callId) ?? "")),
  );
  if (decisive?.type !== "tool" || decisive.kind === "edit") return [];
  return [decisive.ok ? 1 : 0];
}

function countCorrections(entries: readonly JournalEntry[]): number {
  return entries.filter(isUserMessage).slice(1).filter(isCorrection).length;
}

/** Rewinds that take back at most `REWIND_REACH` messages after the first one they take back. */
function countEarlyRewinds(entries: readonly JournalEntry[]): number {
  let count = 0;
  let positions: readonly number[] = [];
  let before = { count, positions };
  for (const entry of entries) {
    if (isUserMessage(entry)) positions = [...positions, entry.position ?? positions.length];
    if (entry.type !== "rewind") continue;
    if (entry.returned !== undefined) {
      ({ count, positions } = before);
      continue;
    }
    before = { count, positions };
    const kept = positions.filter((position) => position < entry.keep);
    const removed = positions.length - kept.length;
    if (removed > 0 && removed <= REWIND_REACH + 1) count += 1;
    positions = kept;
  }
  return count;
}

function isFailure(entry: JournalEntry): boolean {
  if (entry.type === "answer") return entry.request === "permission" && entry.outcome === "rejected";
  return entry.type === "turn-end" && ["error", "max_turn_requests"].includes(entry.stopReason);
}

function isUserMessage(entry: JournalEntry): entry is EntryOf<"message"> {
  return entry.type === "message" && entry.message.role === "user" && entry.message.synthetic !== true;
}

/** True for a message that corrects the answer before it. */
export function isCorrection({ message }: Pick<EntryOf<"message">, "message">): boolean {
  return CORRECTION.test(messageText(message));
}

/** Arguments of the terminal calls that an assistant message makes, by the id of the call. */
function commandsOf({ message }: EntryOf<"message">): readonly (readonly [string, string])[] {
  if (message.role !== "assistant") return [];
  return (message.tool_calls ?? [])
    .filter(({ function: call }) => call.name === "terminal")
    .map(({ id, function: call }) => [id, call.arguments]);
}
