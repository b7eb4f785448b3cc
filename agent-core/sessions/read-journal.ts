/** Reads a journal back: from its lines to the session as it stands. */
import { basename } from "node:path";
import { Conversation } from "./conversation.ts";
import { checkEntry, type EntryOf, JOURNAL_VERSION, type JournalEntry, parseEntry, parseLine } from "./entry.ts";
import { type Line, type LinePlace, LineReader, readLines } from "./journal-lines.ts";

export type StoredSession = {
  readonly id: string;
  /** Its journal, absolute. */
  readonly path: string;
  /** How far the journal was read. Bytes. */
  readonly size: number;
  /** Working folder, absolute; empty when the line that told of it is damaged. */
  readonly cwd: string;
  /** Milliseconds since 1970; undefined as above. */
  readonly begunAt: number | undefined;
  readonly mode: string | undefined;
  readonly title: string | undefined;
  readonly systemPrompt: string | undefined;
  /** The model that was chosen last, as `provider:model`. */
  readonly model: string | undefined;
  readonly reasoningEffort: string | undefined;
  /** What the model does not get of it stays in the journal until it is asked for. */
  readonly conversation: Conversation;
  /** The plan as it was last. */
  readonly todos: readonly StoredTodo[];
  /** What was taken of models and done to files, in order. */
  readonly records: readonly RecordEntry[];
  /** How a tool call was shown, from the journal; undefined when that is not told, or not any more. */
  readonly toolEntry: (callId: string) => EntryOf<"tool"> | undefined;
  /** Lines that could not be read and were left out; a torn last line is not counted. */
  readonly damagedLines: number;
};

export type StoredTodo = EntryOf<"todos">["items"][number];

/** What a session that goes on needs to know of its past, beside what was said. */
export type RecordEntry = EntryOf<"usage" | "file-change" | "restore" | "compression">;

export type ReadSession =
  | { readonly ok: true; readonly session: StoredSession }
  | { readonly ok: false; readonly message: string };

/** Reads the journal at `path`; the failure message is one line for people. */
export async function readJournal(path: string): Promise<ReadSession> {
  const reading = new Reading(path);
  try {
    for await (const lines of readLines(path)) {
      for (const line of lines) reading.add(line);
    }
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return {
      ok: false,
      message: isMissing ? "there is no such session" : `its journal cannot be read: ${String(error)}`,
    };
  }
  return reading.end();
}

/** Every entry that can be read, in order; all of them in memory. Rejects with the system's error. */
export async function readEntries(path: string): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const lines of readLines(path)) {
    for (const line of lines) {
      const entry = parseEntry(textOf(line));
      if (entry !== undefined) entries.push(entry);
    }
  }
  return entries;
}

/** What an interrupted write may have left around a line: zeros of a disk that lost power. Their JSON has none. */
const ZEROS = /^\0+|\0+$/g;
/** How an entry begins; where one stands behind half of another, it is the rest of the line. */
const ENTRY_START = '{"type":"';

function textOf({ bytes }: Line): string {
  const text = bytes.toString("utf8");
  return bytes[0] === 0 || bytes.at(-1) === 0 ? text.replaceAll(ZEROS, "") : text;
}

class Reading {
  readonly #path: string;
  readonly #lineReader: LineReader;
  readonly #conversation = new Conversation();
  readonly #records: RecordEntry[] = [];
  readonly #tools = new Map<string, LinePlace>();
  /** The last entry of each kind that holds until the next. */
  readonly #last: { -readonly [Type in JournalEntry["type"]]?: EntryOf<Type> } = {};
  #head: EntryOf<"session"> | undefined;
  #size = 0;
  #lines = 0;
  #damaged = 0;

  constructor(path: string) {
    this.#path = path;
    this.#lineReader = new LineReader(path);
  }

  add(line: Line): void {
    this.#size = line.start + line.length + 1;
    const text = textOf(line);
    if (text.trim() === "") return;
    this.#lines += 1;
    const json = parseLine(text);
    if (json !== undefined && this.#take(json, line)) return;
    this.#damaged += 1;
    if (json === undefined) this.#rescue(text, line);
  }

  end(): ReadSession {
    const head = this.#head;
    if (head !== undefined && head.version > JOURNAL_VERSION) {
      const known = `its journal has format ${head.version}, and this Hermes knows formats up to ${JOURNAL_VERSION}`;
      return { ok: false, message: `${known}; update Hermes to open it (${this.#path} is left as it is)` };
    }
    if (this.#lines === 0) return { ok: false, message: `its journal is empty (${this.#path})` };
    if (this.#lines === this.#damaged) {
      const nothing = `its journal has no readable beginning, nor any other line that Hermes has written`;
      return { ok: false, message: `${nothing} (${this.#path} is left as it is)` };
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
      cwd: head?.cwd ?? "",
      begunAt: head?.at,
      mode: last.mode?.mode,
      systemPrompt: last["system-prompt"]?.text,
      title: last.title?.title,
      model: last.model?.choice,
      reasoningEffort: last["reasoning-effort"]?.effort,
      conversation: this.#conversation,
      todos: last.todos?.items ?? [],
      records: this.#records,
      toolEntry: (callId) => this.#toolAt(this.#tools.get(callId)),
      damagedLines: this.#damaged,
    };
  }

  /** False when it is no entry. */
  #take(json: unknown, place: LinePlace): boolean {
    const call = toolCallOf(json);
    if (call !== undefined) {
      // What it showed is large, and only a replay needs it.
      this.#tools.set(call, { start: place.start, length: place.length });
      return true;
    }
    const entry = checkEntry(json);
    if (entry === undefined) return false;
    this.#fold(entry, place);
    return true;
  }

  #fold(entry: JournalEntry, { start, length }: LinePlace): void {
    switch (entry.type) {
      case "session":
        this.#head ??= entry;
        return;
      case "message":
        this.#conversation.append(entry.message, entry.position, { read: () => this.#entryAt({ start, length }) });
        return;
      case "rewind":
        this.#conversation.rewind(entry.keep);
        return;
      case "compression":
        this.#conversation.compress(entry);
        this.#records.push(entry);
        return;
      case "usage":
      case "file-change":
      case "restore":
        this.#records.push(entry);
        return;
      case "tool":
      case "turn-end":
        return;
      default:
        this.#remember(entry);
    }
  }

  #remember<Type extends JournalEntry["type"]>(entry: EntryOf<Type> & { readonly type: Type }): void {
    Object.assign(this.#last, { [entry.type]: entry });
  }

  #toolAt(place: LinePlace | undefined): EntryOf<"tool"> | undefined {
    const entry = place === undefined ? undefined : this.#entryAt(place);
    return entry?.type === "tool" ? entry : undefined;
  }

  #entryAt(place: LinePlace): JournalEntry | undefined {
    return parseEntry(this.#lineReader.read(place));
  }

  /** Behind half an entry, which no reader can save, may stand a whole one: a writer had not cut it off. */
  #rescue(text: string, place: Line): void {
    for (let from = text.indexOf(ENTRY_START, 1); from > 0; from = text.indexOf(ENTRY_START, from + 1)) {
      const rest = text.slice(from);
      const json = parseLine(rest);
      const length = Buffer.byteLength(rest);
      if (json !== undefined && this.#take(json, { start: place.start + place.length - length, length })) return;
    }
  }
}

function toolCallOf(json: unknown): string | undefined {
  if (typeof json !== "object" || json === null || !("type" in json) || json.type !== "tool") return undefined;
  return "callId" in json && typeof json.callId === "string" ? json.callId : undefined;
}
