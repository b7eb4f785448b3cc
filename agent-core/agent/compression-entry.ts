/** A compression as the journal keeps it. */
import type { Compression } from "../sessions/conversation.ts";
import type { EntryOf } from "../sessions/entry.ts";
import type { NewEntry } from "../sessions/journal.ts";
import { newSessionId } from "../sessions/session-files.ts";

type How = Pick<EntryOf<"compression">, "strategy" | "tokensBefore" | "tokensAfter">;

/** With a new id for the lineage. */
export function compressionEntry({ dropped, summary, shortened }: Compression, how: How): NewEntry {
  return {
    type: "compression",
    child: newSessionId(Date.now()),
    dropped: dropped.map(([first, last]) => [first, last]),
    summary,
    shortened: [...shortened],
    ...how,
  };
}
