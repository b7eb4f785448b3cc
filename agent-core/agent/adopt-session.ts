/** Takes over what was said in another session, with how it was shown and what stands for its older messages. */
import type { Message } from "../messages/message.ts";
import type { Compression, Conversation, PositionRange } from "../sessions/conversation.ts";
import type { NewEntry } from "../sessions/journal.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import { compressionEntry } from "./compression-entry.ts";

export type Adopting = {
  readonly conversation: Conversation;
  /** Adds a message, and gives its place. */
  readonly record: (message: Message) => number;
  readonly journal: (entry: NewEntry) => void;
};

/** `conversation` has nothing of its own any more. Throws when the other journal can no longer be read. */
export function adoptSession(stored: StoredSession, { conversation, record, journal }: Adopting): void {
  const places = new Map<number, number>();
  for (const { position, message } of stored.conversation.transcript) {
    places.set(position, record(message));
    for (const { id } of (message.role === "assistant" && message.tool_calls) || []) {
      const entry = stored.toolEntry(id);
      if (entry !== undefined) journal(entry);
    }
  }
  const { compression } = stored.conversation;
  if (compression === undefined) return;
  const moved = movedTo(places, compression);
  conversation.compress(moved);
  const made = stored.records.findLast((entry) => entry.type === "compression");
  const { strategy, tokensBefore, tokensAfter } = made ?? { strategy: "summary", tokensBefore: 0, tokensAfter: 0 };
  journal(compressionEntry(moved, { strategy, tokensBefore, tokensAfter }));
}

function movedTo(places: ReadonlyMap<number, number>, { dropped, summary, shortened }: Compression): Compression {
  return {
    dropped: dropped.flatMap(([first, last]): PositionRange[] => {
      const moved = [...places].filter(([place]) => place >= first && place <= last).map(([, place]) => place);
      const [start, end] = [moved[0], moved.at(-1)];
      return start === undefined || end === undefined ? [] : [[start, end]];
    }),
    summary,
    shortened: shortened.flatMap(({ position, content }) => {
      const place = places.get(position);
      return place === undefined ? [] : [{ position: place, content }];
    }),
  };
}
