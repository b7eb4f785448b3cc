/**
 * Outcomes of a session: counts of what its journal says about the agent's work. Entries are added one by one, so that an
 * index can continue where it stopped.
 */
import * as z from "zod";
import type { EntryOf, JournalEntry } from "./entry.ts";

/** A message is taken back because of the answer to it when at most this many user messages follow it. */
const REWIND_REACH = 2;
/** Finished calls that are remembered: an edit finishes again when its problems come late. */
const REMEMBERED_CALLS = 30;
/** Positions that are remembered: a rewind of more is not an early one. */
const REMEMBERED_PROMPTS = 20;

/** Programs whose exit code says whether an edit works: test runners, compilers, build tools, linters. */
const CHECK_COMMAND =
  /\b(?:(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:t|test|build|check|lint|typecheck)\b|(?:cargo|go|dotnet|swift|mvn|gradle|gradlew|make|ninja|bazel)\b|vitest|jest|mocha|pytest|tox|unittest|rspec|phpunit|ctest|tsc|eslint|biome|ruff|mypy|clippy|node\s+--test)/;

/** True for a command line that tests, builds or checks the project. */
export function isCheckCommand(command: string): boolean {
  return CHECK_COMMAND.test(command);
}

/** Count, sum and sum of squares of values. */
const sums = z.tuple([z.number(), z.number(), z.number()]);
export type Sums = z.infer<typeof sums>;

const count = z.number().default(0);

export const outcomeSchema = z.object({
  prompts: count,
  corrections: count,
  /** Rewinds and restores soon after a message. */
  takenBack: count,
  /** Permission requests that the user answered, and those that the user refused. */
  asked: count,
  refused: count,
  turns: count,
  /** Turns that ended in an error or at their limit. */
  failedTurns: count,
  /** Stop reason of the last turn. */
  ended: z.string().nullable().default(null),
  /** Lines that the user reviewed, and those that the user kept. */
  reviewed: count,
  kept: count,
  /** 1 or 0: result of the last test or build since the last edit; null when none ran since. */
  check: z.number().nullable().default(null),
  /** Requests that the provider refused as too long. */
  overflows: count,
  escalations: count,
  /** Calls and failures of each tool. A command that ran to its end did not fail, whatever its exit code. */
  calls: z.record(z.string(), z.tuple([z.number(), z.number()])).default(() => ({})),
  /** Calls of a tool right after a call of it that failed, and runs of a delegated task after its first. */
  repeats: count,
  /** Delegated tasks that were evaluated. */
  evaluated: count,
  tokens: count,
  usd: count,
  /** Model of the last turn, as `provider:model`. */
  model: z.string().nullable().default(null),
  turnMs: sums.default([0, 0, 0]),
  firstTokenMs: sums.default([0, 0, 0]),
  /** Skills that reached the model as a whole. */
  skills: z.array(z.string()).default(() => []),
});
/** Outcomes of a session, or of one day of it. */
export type Outcome = z.infer<typeof outcomeSchema>;

export const progressSchema = z.object({
  /** Positions of the user's messages, and those before the last rewind with its count. */
  positions: z.array(z.number()).default(() => []),
  before: z
    .object({ positions: z.array(z.number()), counted: z.boolean() })
    .nullable()
    .default(null),
  /** Position of the last restore of files. */
  restored: z.number().nullable().default(null),
  /** The user took an edit back since the last message. */
  undone: z.boolean().default(false),
  /** Tool of the last call, if it failed. */
  failed: z.string().nullable().default(null),
  finished: z.array(z.string()).default(() => []),
  /** Arguments of terminal calls that have not finished. */
  commands: z.record(z.string(), z.string()).default(() => ({})),
  /** Time of the last prompt. */
  promptAt: z.number().nullable().default(null),
});
/** State between two entries. */
export type OutcomeProgress = z.infer<typeof progressSchema>;

export const noOutcome = (): Outcome => outcomeSchema.parse({});

export const noProgress = (): OutcomeProgress => progressSchema.parse({});

type Adder<Type extends JournalEntry["type"]> = (
  outcome: Outcome,
  progress: OutcomeProgress,
  entry: EntryOf<Type>,
) => void;

/** Entries of other types are no outcome. */
const adders: { readonly [Type in JournalEntry["type"]]?: Adder<Type> } = {
  message: addMessage,
  tool: addCall,
  rewind: addRewind,
  restore: (outcome, progress, { phase, position }) => {
    if (phase === "begin") addRestore(outcome, progress, position);
  },
  "turn-end": addTurnEnd,
  verdict: (outcome, progress, { lines, outcome: given }) => {
    outcome.reviewed += lines;
    if (given === "kept") outcome.kept += lines;
    else progress.undone = true;
  },
  answer: (outcome, _, { request, by, outcome: given }) => {
    if (request !== "permission" || by !== "user") return;
    outcome.asked += 1;
    if (given === "rejected") outcome.refused += 1;
  },
  compression: (outcome, _, { refused }) => {
    if (refused === true) outcome.overflows += 1;
  },
  evaluation: (outcome, _, { retries = 0, decision }) => {
    outcome.evaluated += 1;
    if (retries > 0) outcome.repeats += 1;
    if (decision === "escalate") outcome.escalations += 1;
  },
  usage: (outcome, _, { model, inputTokens, outputTokens, costUsd = 0 }) => {
    outcome.model = model;
    outcome.tokens += inputTokens + outputTokens;
    outcome.usd += costUsd;
  },
  "skill-use": ({ skills }, _, { how, name }) => {
    if (how !== "offered" && !skills.includes(name)) skills.push(name);
  },
};

/** Adds an entry to `outcome` and `progress`. */
export function addEntry(outcome: Outcome, progress: OutcomeProgress, entry: JournalEntry): void {
  const add = adders[entry.type] as Adder<JournalEntry["type"]> | undefined; // the table has it under its own type
  add?.(outcome, progress, entry);
}

function addMessage(outcome: Outcome, progress: OutcomeProgress, { message, position, at }: EntryOf<"message">): void {
  if (message.role === "assistant") {
    for (const { id, function: call } of message.tool_calls ?? []) {
      if (call.name === "terminal") progress.commands[id] = call.arguments;
    }
  }
  if (message.role !== "user" || message.synthetic === true) return;
  if (progress.undone) outcome.corrections += 1;
  progress.undone = false;
  outcome.prompts += 1;
  progress.positions = [...progress.positions, position ?? progress.positions.length].slice(-REMEMBERED_PROMPTS);
  progress.promptAt = at;
  progress.before = null;
  progress.failed = null;
}

function addCall(outcome: Outcome, progress: OutcomeProgress, entry: EntryOf<"tool">): void {
  const { callId, kind, ok } = entry;
  if (progress.finished.includes(callId)) return;
  progress.finished = [...progress.finished, callId].slice(-REMEMBERED_CALLS);
  const command = commandOf(entry, progress);
  if (kind === "edit" && ok) outcome.check = null;
  else if (isCheckCommand(command)) outcome.check = ok ? 1 : 0;
  if (entry.rejected !== true) countCall(outcome, progress, entry);
}

function countCall(outcome: Outcome, progress: OutcomeProgress, entry: EntryOf<"tool">): void {
  const { name, ok, command } = entry;
  const isFailure = !ok && typeof command?.exit !== "number";
  const [calls, failures] = outcome.calls[name] ?? [0, 0];
  outcome.calls[name] = [calls + 1, failures + (isFailure ? 1 : 0)];
  if (progress.failed === name) outcome.repeats += 1;
  progress.failed = isFailure ? name : null;
}

/** Command line of a shell call; empty for another call. */
function commandOf({ callId, name, title, command }: EntryOf<"tool">, progress: OutcomeProgress): string {
  const typed = progress.commands[callId] ?? (name === "terminal" ? title : "");
  delete progress.commands[callId];
  return command?.text ?? typed;
}

function addRewind(outcome: Outcome, progress: OutcomeProgress, { keep, returned }: EntryOf<"rewind">): void {
  if (returned !== undefined) {
    if (progress.before?.counted === true) outcome.takenBack -= 1;
    progress.positions = progress.before?.positions ?? progress.positions;
    progress.before = null;
    return;
  }
  const { positions, restored } = progress;
  const isEarly = isSoonAfter(positions, keep);
  const counted = isEarly && restored !== keep; // the restore of files to the same message counted already
  if (counted) outcome.takenBack += 1;
  progress.before = { positions, counted };
  progress.positions = positions.filter((position) => position < keep);
}

/** Files return to their state before a message. */
function addRestore(outcome: Outcome, progress: OutcomeProgress, position: number): void {
  if (!isSoonAfter(progress.positions, position) || progress.restored === position) return;
  progress.restored = position;
  outcome.takenBack += 1;
}

/** True when at most `REWIND_REACH` user messages follow the first one from position `keep` on. */
function isSoonAfter(positions: readonly number[], keep: number): boolean {
  const removed = positions.filter((position) => position >= keep).length;
  return removed > 0 && removed <= REWIND_REACH + 1;
}

function addTurnEnd(outcome: Outcome, progress: OutcomeProgress, entry: EntryOf<"turn-end">): void {
  const { stopReason, fault, firstTokenMs, at } = entry;
  outcome.turns += 1;
  outcome.ended = stopReason;
  if (["error", "max_turn_requests"].includes(stopReason)) outcome.failedTurns += 1;
  if (fault === "context-overflow") outcome.overflows += 1;
  if (firstTokenMs !== undefined) outcome.firstTokenMs = withValue(outcome.firstTokenMs, firstTokenMs);
  if (progress.promptAt !== null) outcome.turnMs = withValue(outcome.turnMs, Math.max(0, at - progress.promptAt));
  progress.promptAt = null;
  progress.failed = null;
}

export function withValue([count, sum, squares]: Sums, value: number): Sums {
  return [count + 1, sum + value, squares + value * value];
}
