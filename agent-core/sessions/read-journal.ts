/** Reads a journal: from its lines to the state of the session. */
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { hasCode } from "../platform/errors.ts";
import type { HermesSettled } from "../protocol/files.ts";
import type { HermesUpdateMeta } from "../protocol/update-meta.ts";
import { Conversation, type StoredMessage } from "./conversation.ts";
import {
  checkEntry,
  type EntryOf,
  JOURNAL_VERSION,
  type JournalEntry,
  parseEntry,
  parseLine,
  type StoredDiff,
  type TextDiff,
} from "./entry.ts";
import {
  entriesIn,
  type Line,
  type LinePlace,
  LineReader,
  linesOf,
  readLines,
  recoverEntries,
} from "./journal-lines.ts";

export type StoredSession = {
  readonly id: string;
  /** Path of the journal, absolute. */
  readonly path: string;
  /** Bytes of the journal's lines. */
  readonly size: number;
  /** Last working folder, absolute; empty when the first line is damaged. */
  readonly cwd: string;
  /** Milliseconds since 1970; undefined when the first line is damaged. */
  readonly begunAt: number | undefined;
  /** Session that delegated its task; undefined for other sessions. */
  readonly delegatedBy: string | undefined;
  readonly mode: string | undefined;
  readonly title: string | undefined;
  readonly systemPrompt: string | undefined;
  /** A goal of an earlier process does not go on by itself. */
  readonly goal: EntryOf<"goal"> | undefined;
  /** The last choice of a model, as `provider:model`. */
  readonly model: string | undefined;
  readonly reasoningEffort: string | undefined;
  /** Messages that the model does not get stay in the journal until they are requested. */
  readonly conversation: Conversation;
  readonly todos: EntryOf<"todos">["items"];
  /** All versions of the plan, in order. */
  readonly plans: readonly StoredPlan[];
  /** Usage of models and changes of files, in order. */
  readonly records: readonly RecordEntry[];
  /** The display of a tool call. Undefined when the journal lacks it or has changed. */
  readonly toolEntry: (callId: string) => EntryOf<"tool"> | undefined;
  /** The user's decisions on the edits of a call, by path. */
  readonly decisionsOf: (callId: string) => Decisions | undefined;
  /** Notes a decision of this process, for a replay of earlier pages. */
  readonly decide: (review: HermesSettled) => void;
  /** Calls of the last answer whose end is in the journal. Their results follow only when all calls have ended. */
  readonly endedCalls: ReadonlySet<string>;
  /** The diffs of a tool call with their texts. A diff whose text is lost is left out. */
  readonly diffsOf: (entry: Pick<EntryOf<"tool">, "diffs">) => readonly TextDiff[];
  /** Notices before the message at a position. */
  readonly noticesAt: (position: number) => readonly EntryOf<"notice">[];
  /** Time of the last decision on an edit. Milliseconds since 1970. */
  readonly lastVerdictAt: number | undefined;
  /** End of the last turn, if that failed and no message followed. */
  readonly failedTurn: EntryOf<"turn-end"> | undefined;
  /** Count of unreadable lines. A torn last line does not count. */
  readonly damagedLines: number;
  /** Lines that are not in the journal yet. All fields above include them. */
  readonly unsaved: Buffer | undefined;
};

type Decisions = NonNullable<HermesUpdateMeta["decisions"]>;

/** A plan, and the position of the message after its change. */
export type StoredPlan = { readonly position: number; readonly items: EntryOf<"todos">["items"] };

/** Entries about the past that a resumed session needs besides its messages. */
export type RecordEntry = EntryOf<
  "usage" | "file-change" | "git-copies" | "watched-command" | "restore" | "compression" | "delegation" | "memory-undo"
>;

export type ReadSession =
  | { readonly ok: true; readonly session: StoredSession }
  | { readonly ok: false; readonly message: string };

/** Text by its SHA-256, from the checkpoints' store; undefined when the store has lost it. */
export type StoredText = (hash: string) => string | undefined;

/**
 * Reads the journal at `path`, then the lines of `unsaved`, which still wait for the disk. The failure message is one
 * line for people.
 */
export async function readJournal(
  path: string,
  unsaved?: Buffer,
  storedText: StoredText = () => undefined,
): Promise<ReadSession> {
  const reading = new Reading(path, unsaved, storedText);
  try {
    for await (const lines of readLines(path)) {
      for (const line of lines) reading.add(line);
    }
  } catch (error) {
    const isMissing = hasCode(error, "ENOENT");
    if (isMissing && unsaved !== undefined) return reading.end();
    return {
      ok: false,
      message: isMissing ? "there is no such session" : `its journal cannot be read: ${String(error)}`,
    };
  }
  return reading.end();
}

/** As `readJournal`, but blocks until the whole file is read. Undefined when there is no file. */
export function readJournalSync(path: string, storedText?: StoredText): ReadSession | undefined {
  if (!existsSync(path)) return undefined;
  const reading = new Reading(path, undefined, storedText ?? (() => undefined));
  try {
    for (const line of linesOf(readFileSync(path))) reading.add(line);
  } catch (error) {
    return { ok: false, message: `its journal cannot be read: ${String(error)}` };
  }
  return reading.end();
}

/** All readable entries in order, those of `unsaved` last, in memory. Rejects with the system's error. */
export async function readEntries(path: string, unsaved?: Buffer): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  const take = (lines: readonly Line[]): void => {
    for (const line of lines) entries.push(...entriesIn(textOf(line)));
  };
  if (unsaved === undefined || existsSync(path)) for await (const lines of readLines(path)) take(lines);
  if (unsaved !== undefined) take(linesOf(unsaved));
  return entries;
}

/** A blank line, or zeros after a power cut. */
const NOTHING = /^[\s\0]*$/;

const textOf = ({ bytes }: Line): string => bytes.toString("utf8");

class Reading {
  readonly #path: string;
  readonly #lineReader: LineReader;
  readonly #conversation = new Conversation();
  readonly #records: RecordEntry[] = [];
  #failedTurn: EntryOf<"turn-end"> | undefined;
  readonly #plans: StoredPlan[] = [];
  readonly #tools = new Map<string, LinePlace | EntryOf<"tool">>();
  readonly #endedCalls = new Set<string>();
  readonly #decisions = new Map<string, Decisions>();
  /** Calls by the paths of their edits, while the decision on them can change. */
  readonly #openEdits = new Map<string, Set<string>>();
  readonly #notices = new Map<number, EntryOf<"notice">[]>();
  readonly #unsaved: Buffer | undefined;
  readonly #storedText: StoredText;
  /** The last entry of each kind where only the last one counts. */
  readonly #last: { -readonly [Type in JournalEntry["type"]]?: EntryOf<Type> } = {};
  #head: EntryOf<"session"> | undefined;
  #size = 0;
  #lines = 0;
  #damaged = 0;

  constructor(path: string, unsaved: Buffer | undefined, storedText: StoredText) {
    this.#path = path;
    this.#storedText = storedText;
    this.#unsaved = unsaved;
    this.#lineReader = new LineReader(path);
  }

  add(line: Line): void {
    this.#size = line.start + line.length + 1;
    const text = textOf(line);
    if (NOTHING.test(text)) return;
    this.#lines += 1;
    const json = parseLine(text);
    if (json !== undefined && this.#take(json, line)) return;
    this.#damaged += 1;
    if (json === undefined) this.#rescue(text, line);
  }

  end(): ReadSession {
    this.#addUnsaved();
    const head = this.#head;
    if (head !== undefined && head.version > JOURNAL_VERSION) {
      const known = `its journal has format ${head.version}, and this Hermes knows formats up to ${JOURNAL_VERSION}`;
      return { ok: false, message: `${known}; update Hermes to open it (${this.#path} is not changed)` };
    }
    if (this.#lines === 0) return { ok: false, message: `its journal is empty (${this.#path})` };
    if (this.#lines === this.#damaged) {
      const nothing = `its journal has no readable header and no other line written by Hermes`;
      return { ok: false, message: `${nothing} (${this.#path} is not changed)` };
    }
    return { ok: true, session: this.#session(head) };
  }

  #session(head: EntryOf<"session"> | undefined): StoredSession {
    const last = this.#last;
    const path = this.#path;
    return {
      id: head?.id ?? basename(path, ".jsonl"),
      path,
      size: this.#size,
      cwd: last.folder?.cwd ?? head?.cwd ?? "",
      begunAt: head?.at,
      delegatedBy: head?.origin === "delegation" ? head.parent : undefined,
      mode: last.mode?.mode,
      systemPrompt: last["system-prompt"]?.text,
      title: last.title?.title,
      goal: last.goal?.state === "active" ? { ...last.goal, state: "paused" } : last.goal,
      model: last.model?.choice,
      reasoningEffort: last["reasoning-effort"]?.effort,
      conversation: this.#conversation,
      todos: this.#plans.at(-1)?.items ?? [],
      plans: this.#plans,
      records: this.#records,
      toolEntry: (callId) => this.#toolAt(this.#tools.get(callId)),
      decisionsOf: (callId) => this.#decisions.get(callId),
      decide: (review) => this.#decide(review),
      endedCalls: this.#endedCalls,
      diffsOf: ({ diffs }) =>
        diffs.map((diff) => withTexts(diff, this.#storedText)).filter((diff) => diff !== undefined),
      noticesAt: (position) => this.#notices.get(position) ?? [],
      lastVerdictAt: last.verdict?.at,
      failedTurn: this.#failedTurn,
      damagedLines: this.#damaged,
      unsaved: this.#unsaved,
    };
  }

  /** Unsaved entries are kept in memory, because the file does not have them. */
  #addUnsaved(): void {
    for (const line of this.#unsaved === undefined ? [] : linesOf(this.#unsaved)) {
      const entry = parseEntry(textOf(line));
      this.#lines += 1;
      if (entry?.type === "tool") this.#addTool(entry.callId, entry);
      else if (entry !== undefined) this.#fold(entry);
    }
  }

  /** Returns false when `json` is not an entry. */
  #take(json: unknown, place: LinePlace): boolean {
    const call = toolCallOf(json);
    if (call !== undefined) {
      // Only the place is kept: the display of a call is large, and only a replay needs it.
      this.#addTool(call, { start: place.start, length: place.length });
      return true;
    }
    const entry = checkEntry(json);
    if (entry === undefined) return false;
    this.#fold(entry, place);
    return true;
  }

  #addTool(callId: string, display: LinePlace | EntryOf<"tool">): void {
    this.#tools.set(callId, display);
    this.#endedCalls.add(callId);
  }

  /** Keeps the offsets alone, since a line holds its bytes in memory. */
  #stored(place: LinePlace | undefined): StoredMessage | undefined {
    if (place === undefined) return undefined;
    const { start, length } = place;
    return { read: () => this.#entryAt({ start, length }) };
  }

  /** A message without a place is kept in memory. */
  #fold(entry: JournalEntry, place?: LinePlace): void {
    switch (entry.type) {
      case "session":
        this.#head ??= entry;
        return;
      case "message":
        this.#failedTurn = undefined;
        if (entry.message.role === "assistant") this.#endedCalls.clear();
        this.#conversation.append(entry.message, entry.position, this.#stored(place));
        return;
      case "rewind":
        this.#failedTurn = undefined;
        if (entry.returned === undefined) this.#conversation.rewind(entry.keep, entry.isRetry);
        else this.#conversation.unrewind();
        return;
      case "compression":
      case "usage":
      case "file-change":
      case "git-copies":
      case "watched-command":
      case "restore":
      case "delegation":
      case "memory-undo":
        if (entry.type === "compression") this.#conversation.compress(entry);
        if (entry.type === "file-change" && entry.by === "edit") this.#openEdit(entry);
        this.#records.push(entry);
        return;
      case "todos":
        this.#plans.push({ position: this.#conversation.next, items: entry.items });
        return;
      case "review":
        this.#decide(entry);
        return;
      case "notice":
        this.#notices.set(entry.position, [...(this.#notices.get(entry.position) ?? []), entry]);
        return;
      case "turn-end":
        this.#failedTurn = entry.error === undefined ? undefined : entry;
        return;
      case "tool":
        return;
      default:
        Object.assign(this.#last, { [entry.type]: entry });
    }
  }

  /** A call's id may come again after a rewind: its new edit has no decision. */
  #openEdit({ path, source }: EntryOf<"file-change">): void {
    delete this.#decisions.get(source)?.[path];
    this.#openEdits.set(path, (this.#openEdits.get(path) ?? new Set()).add(source));
  }

  #decide({ path, outcome }: HermesSettled): void {
    const open = this.#openEdits.get(path) ?? new Set();
    for (const callId of open) {
      const decisions = this.#decisions.get(callId) ?? {};
      if (outcome === "redone") delete decisions[path];
      else decisions[path] = decisions[path] === undefined ? outcome : "discarded";
      if (/kept|discarded/.test(decisions[path] ?? "")) open.delete(callId);
      this.#decisions.set(callId, decisions);
    }
  }

  #toolAt(place: LinePlace | EntryOf<"tool"> | undefined): EntryOf<"tool"> | undefined {
    if (place === undefined || "type" in place) return place;
    const entry = this.#entryAt(place);
    return entry?.type === "tool" ? entry : undefined;
  }

  #entryAt(place: LinePlace): JournalEntry | undefined {
    return parseEntry(this.#lineReader.read(place));
  }

  #rescue(text: string, { bytes, start }: Line): void {
    for (const saved of recoverEntries(text)) {
      const length = Buffer.byteLength(saved.text);
      this.#take(saved.json, { start: start + bytes.indexOf(saved.text), length });
    }
  }
}

function withTexts(diff: StoredDiff, storedText: StoredText): TextDiff | undefined {
  if ("oldText" in diff) return diff;
  const { path, oldHash, newHash } = diff;
  const [oldText, newText] = [oldHash, newHash].map((hash) => (hash === null ? null : storedText(hash)));
  return oldText === undefined || newText === undefined ? undefined : { path, oldText, newText };
}

function toolCallOf(json: unknown): string | undefined {
  if (typeof json !== "object" || json === null || !("type" in json) || json.type !== "tool") return undefined;
  return "callId" in json && typeof json.callId === "string" ? json.callId : undefined;
}
