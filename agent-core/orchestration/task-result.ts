/** Result of a delegated task: facts from the sub-agent's journal, besides its own words. */
import { hunksBetween } from "../platform/hunks.ts";
import { parseJson, parseRepairedJson } from "../platform/json.ts";
import { truncate } from "../platform/one-line.ts";
import { pathBelow } from "../platform/paths.ts";
import type { HermesTask, HermesVerdict } from "../protocol/delegation.ts";
import type { EntryOf, JournalEntry, StoredDiff } from "../sessions/entry.ts";
import type { NewEntry } from "../sessions/journal.ts";
import type { EndStatus } from "./task-graph.ts";

export type ChangedFile = HermesTask["files"][number];

export type TaskFacts = {
  /** Changed files, relative to the working folder; those outside are absolute. */
  readonly files: readonly ChangedFile[];
  /** Ended commands in order. `exit`: null for one that a signal ended. */
  readonly commands: readonly { readonly command: string; readonly exit: number | null }[];
  /** Answers of the model. */
  readonly iterations: number;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  /** Last text of the sub-agent; empty without one. */
  readonly answer: string;
};

/** Result of a task as the delegating model gets it. */
export type TaskResult = Omit<TaskFacts, "answer"> & {
  readonly id: string;
  readonly status: EndStatus;
  /** The sub-agent's own words. */
  readonly summary: string;
  /** Reason of a status other than `completed`, in a sentence. */
  readonly reason?: string;
  /** Value of a task with a schema. */
  readonly result?: unknown;
  readonly schema_valid?: boolean;
  /** Differences of the result from its schema. */
  readonly errors?: readonly string[];
  readonly verdicts?: readonly HermesVerdict[];
  /** Doubt of the evaluation about a result that was accepted, in a sentence. */
  readonly note?: string;
  /** Commands that still ran at the end, and were ended. */
  readonly ended_processes?: readonly string[];
  /** Seconds of work. */
  readonly duration: number;
  /** Session of the sub-agent; absent for a task that never began. */
  readonly session?: string;
};

/** Collects the facts of a sub-agent from the entries of its journal, in order. */
export class TaskRecord {
  readonly #cwd: string;
  /** Hunks by path, for each call: an edit is recorded again when its problems come late. */
  readonly #edits = new Map<string, ReadonlyMap<string, number>>();
  readonly #commands = new Map<string, NonNullable<EntryOf<"tool">["command"]>>();
  /** Changed files; false for one that another task may have changed. */
  readonly #changed = new Map<string, boolean>();
  #iterations = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  #answer = "";

  /** `cwd`: working folder of the sub-agent, absolute. */
  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  add(entry: JournalEntry | NewEntry): void {
    switch (entry.type) {
      case "message":
        if (entry.message.role !== "assistant") return;
        this.#iterations += 1;
        this.#answer = entry.message.content?.trim() || this.#answer;
        return;
      case "tool":
        if (entry.ok) this.#edits.set(entry.callId, hunksOf(entry.diffs));
        if (entry.command !== undefined) this.#commands.set(entry.callId, entry.command);
        return;
      case "file-change":
        this.#changed.set(entry.path, this.#changed.get(entry.path) === true || entry.others === undefined);
        return;
      case "usage":
        this.#inputTokens += entry.inputTokens;
        this.#outputTokens += entry.outputTokens;
        return;
      default:
    }
  }

  get facts(): TaskFacts {
    const hunks = new Map<string, number>([...this.#changed].map(([path]) => [path, 0]));
    for (const edit of this.#edits.values()) {
      for (const [path, count] of edit) hunks.set(path, (hunks.get(path) ?? 0) + count);
    }
    return {
      files: [...hunks].map(([path, count]) => ({
        path: pathBelow(this.#cwd, path) ?? path,
        hunks: count,
        ...(count === 0 && this.#changed.get(path) === false && { shared: true }),
      })),
      commands: [...this.#commands.values()].map(({ text, exit }) => ({ command: text, exit })),
      iterations: this.#iterations,
      usage: { inputTokens: this.#inputTokens, outputTokens: this.#outputTokens },
      answer: this.#answer,
    };
  }
}

/** Number of changed places by path. A diff whose texts are stored elsewhere, or too different to compare, counts as one. */
function hunksOf(diffs: readonly StoredDiff[]): ReadonlyMap<string, number> {
  const hunks = new Map<string, number>();
  for (const diff of diffs) hunks.set(diff.path, (hunks.get(diff.path) ?? 0) + placesIn(diff));
  return hunks;
}

function placesIn(diff: StoredDiff): number {
  if (!("oldText" in diff) || diff.oldText === null || diff.newText === null) return 1;
  return hunksBetween(diff.oldText, diff.newText).length;
}

/** A longer text goes to a file. Characters. */
const MAX_CHARS = 24_000;
/** Characters that all shortened results have together, without those of their facts. */
const SHORT_CHARS = 12_000;
const MAX_LISTED = 10;

export type ResultText = {
  /** JSON, in the order of the call. */
  readonly text: string;
  /** The whole text, if `text` is shortened. */
  readonly whole: string | undefined;
};

export function resultText(results: readonly TaskResult[]): ResultText {
  const whole = JSON.stringify(results);
  if (whole.length <= MAX_CHARS) return { text: whole, whole: undefined };
  const share = Math.max(100, Math.floor(SHORT_CHARS / results.length));
  return { text: JSON.stringify(results.map((result) => shortened(result, share))), whole };
}

function shortened({ result, errors, ...rest }: TaskResult, chars: number): TaskResult {
  const json = result === undefined ? "" : JSON.stringify(result);
  return {
    ...rest,
    summary: truncate(rest.summary, chars),
    ...(result !== undefined && { result: json.length <= chars ? result : truncate(json, chars) }),
    ...(errors && { errors: errors.slice(0, MAX_LISTED).map((error) => truncate(error, chars)) }),
    files: rest.files.slice(0, MAX_LISTED),
    commands: rest.commands
      .slice(-MAX_LISTED)
      .map(({ command, exit }) => ({ command: truncate(command, chars / MAX_LISTED), exit })),
  };
}

/** Returns the errors of a value, in one line; undefined for a valid one. */
export type SchemaCheck = (value: unknown) => string | undefined;

export type SchemaResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly value: unknown; readonly errors: readonly string[] };

export function schemaResult(answer: string, check: SchemaCheck): SchemaResult {
  const found = jsonIn(answer);
  if (found === undefined) return { ok: false, value: undefined, errors: ["The message holds no JSON value."] };
  const errors = check(found.value);
  return errors === undefined ? { ok: true, ...found } : { ok: false, ...found, errors: [errors] };
}

const FENCED = /```(?:json)?[ \t]*\n([\s\S]*?)\n[ \t]*```/g;

/** The last JSON value of a message: in a fence, or at its end. */
function jsonIn(text: string): { readonly value: unknown } | undefined {
  const candidates = [text, ...[...text.matchAll(FENCED)].map(([, json = ""]) => json).reverse(), ...endings(text)];
  for (const candidate of candidates) {
    const value = parseJson(candidate);
    if (value !== undefined) return { value };
  }
  const repaired = endings(text)
    .map((json) => parseRepairedJson(json))
    .find((value) => value !== undefined);
  return repaired === undefined ? undefined : { value: repaired };
}

/** Maximum number of opening brackets that are tried as the start of the value. */
const MAX_STARTS = 200;

/** Texts from each opening bracket to the last closing one, the longest first. */
function endings(text: string): readonly string[] {
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]")) + 1;
  const starts = [...text.slice(0, end).matchAll(/[{[]/g)].slice(0, MAX_STARTS);
  return starts.map(({ index }) => text.slice(index, end));
}
