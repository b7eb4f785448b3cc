/**
 * A session as learning reads it: its own entries without those that a fork copied, and without everything that the user
 * took back.
 */
import type { Message } from "../messages/message.ts";
import { Conversation } from "../sessions/conversation.ts";
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
  const first = firstOwn(entries, head);
  const own = entries.slice(first);
  const prompt = entries.findLast((entry) => entry.type === "system-prompt");
  const ended = own.findLast(({ type }) => type === "message" || type === "tool" || type === "turn-end");
  return {
    sessionId: id,
    cwd: head?.cwd ?? "",
    folders: head?.folders ?? [],
    origin: head?.origin ?? head?.source ?? "user",
    at: head?.at ?? entries[0]?.at ?? 0,
    endedAt: ended?.at ?? head?.at ?? 0,
    ...foldOf(entries, first),
    own,
    systemPrompt: prompt?.text ?? "",
  };
}

/** Index of the first own entry: a fork begins with copies, which are older than it is. */
function firstOwn(entries: readonly JournalEntry[], head: EntryOf<"session"> | undefined): number {
  if (head?.parent === undefined || head.origin === "delegation") return 0;
  const first = entries.findIndex((entry) => entry !== head && entry.at >= head.at);
  return first < 0 ? entries.length : first;
}

/** Messages and events from the entry `first` on, as the rewinds of all entries leave them. */
function foldOf(entries: readonly JournalEntry[], first: number): Pick<Transcript, "messages" | "happened"> {
  const conversation = new Conversation();
  const times = new Map<number, number>();
  const happened: { readonly after: number; readonly entry: Happened }[] = [];
  for (const [index, entry] of entries.entries()) {
    switch (entry.type) {
      case "session":
      case "compression":
      case "system-prompt":
        break;
      case "message": {
        const position = conversation.append(entry.message, entry.position);
        if (index >= first) times.set(position, entry.at);
        break;
      }
      case "rewind":
        if (entry.returned === undefined) conversation.rewind(entry.keep);
        else conversation.unrewind();
        break;
      default:
        if (index >= first) happened.push({ after: conversation.transcript.at(-1)?.position ?? -1, entry });
    }
  }
  const kept = new Set([-1, ...conversation.transcript.map(({ position }) => position)]);
  return {
    messages: conversation.transcript.flatMap(({ position, message }) => {
      const at = times.get(position);
      return at === undefined ? [] : [{ position, message, at }];
    }),
    happened: happened.flatMap(({ after, entry }) => (kept.has(after) ? [entry] : [])),
  };
}
