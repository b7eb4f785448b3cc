/**
 * A session as learning reads it: its own entries without those that a fork copied, and without everything that the user
 * took back.
 */
import type { Message } from "../messages/message.ts";
import type { EntryOf, JournalEntry, SessionOrigin } from "../sessions/entry.ts";

/** A message that was not taken back. `position` counts from 0 over the whole session. */
export type TranscriptMessage = { readonly position: number; readonly message: Message; readonly at: number };

/** An entry that is not a message: a tool call, a verdict, the end of a turn. */
type Happened = Exclude<JournalEntry, { type: "session" | "message" | "rewind" | "compression" | "system-prompt" }>;

export type Transcript = {
  readonly sessionId: string;
  /** Working folder, absolute; empty when the first line is damaged. */
  readonly cwd: string;
  /** Further workspace folders, absolute. */
  readonly folders: readonly string[];
  readonly origin: SessionOrigin;
  /** Milliseconds since 1970: begin, and last entry of a turn. */
  readonly at: number;
  readonly endedAt: number;
  readonly messages: readonly TranscriptMessage[];
  readonly happened: readonly Happened[];
  /** Entries that are not copies, also those that the user took back. */
  readonly own: readonly JournalEntry[];
  /** The last prompt of the session, with all that the host added. */
  readonly systemPrompt: string;
};

/** `id`: of the session; its journal's first line may be damaged. */
export function transcriptOf(id: string, entries: readonly JournalEntry[]): Transcript {
  const head = entries.find((entry) => entry.type === "session");
  const own = ownEntries(entries, head);
  const fold = new Fold(own === entries ? 0 : nextPosition(entries, entries.length - own.length));
  for (const entry of own) fold.add(entry);
  const prompt = entries.findLast((entry) => entry.type === "system-prompt");
  const ended = own.findLast(({ type }) => type === "message" || type === "tool" || type === "turn-end");
  return {
    sessionId: id,
    cwd: head?.cwd ?? "",
    folders: head?.folders ?? [],
    origin: head?.origin ?? head?.source ?? "user",
    at: head?.at ?? entries[0]?.at ?? 0,
    endedAt: ended?.at ?? head?.at ?? 0,
    messages: fold.messages,
    happened: fold.happened,
    own,
    systemPrompt: prompt?.text ?? "",
  };
}

/** A fork begins with copies, which are older than it is. */
function ownEntries(entries: readonly JournalEntry[], head: EntryOf<"session"> | undefined): readonly JournalEntry[] {
  if (head?.parent === undefined || head.origin === "delegation") return entries;
  const first = entries.findIndex((entry) => entry !== head && entry.at >= head.at);
  return first < 0 ? [] : entries.slice(first);
}

/** Position of the first message from `index` on: a fork continues the numbers of its parent. */
function nextPosition(entries: readonly JournalEntry[], index: number): number {
  return entries.slice(0, index).reduce((next, entry) => {
    return entry.type === "message" ? Math.max(entry.position ?? next, next) + 1 : next;
  }, 0);
}

type Placed = { readonly position: number; readonly entry: Happened };

/** Applies the entries in order. A rewind takes back the messages and what happened after them. */
class Fold {
  #messages: TranscriptMessage[] = [];
  #happened: Placed[] = [];
  #taken: { readonly messages: TranscriptMessage[]; readonly happened: Placed[] } | undefined;
  #next: number;

  constructor(next: number) {
    this.#next = next;
  }

  get messages(): readonly TranscriptMessage[] {
    return this.#messages;
  }

  get happened(): readonly Happened[] {
    return this.#happened.map(({ entry }) => entry);
  }

  add(entry: JournalEntry): void {
    switch (entry.type) {
      case "session":
      case "compression":
      case "system-prompt":
        return;
      case "message":
        this.#taken = undefined;
        this.#say(entry);
        return;
      case "rewind":
        if (entry.returned === undefined) this.#rewind(entry.keep);
        else this.#return();
        return;
      default:
        this.#happened.push({ position: this.#next - 1, entry });
    }
  }

  #say({ message, position: stored, at }: EntryOf<"message">): void {
    const position = Math.max(stored ?? this.#next, this.#next);
    this.#messages.push({ position, message, at });
    this.#next = position + 1;
  }

  #rewind(keep: number): void {
    this.#taken = { messages: this.#messages, happened: this.#happened };
    this.#messages = this.#messages.filter(({ position }) => position < keep);
    this.#happened = this.#happened.filter(({ position }) => position < keep);
  }

  #return(): void {
    if (this.#taken === undefined) return;
    this.#messages = this.#taken.messages;
    this.#happened = this.#taken.happened;
    this.#taken = undefined;
  }
}
