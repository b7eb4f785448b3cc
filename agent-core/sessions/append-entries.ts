/** Adds to the journal of a stored session that nobody has open. */
import type { JournalEntry } from "./entry.ts";
import { Journal } from "./journal.ts";
import type { StoredSession } from "./read-journal.ts";

/** The entries keep their times. Rejects with an Error in one line that says why they cannot be stored. */
export async function appendEntries(
  { path, id, cwd }: Pick<StoredSession, "path" | "id" | "cwd">,
  entries: readonly Exclude<JournalEntry, { type: "session" }>[],
): Promise<void> {
  let at = 0;
  let failure: string | undefined;
  const onFailure = (_: string, reason: string): void => {
    failure ??= reason;
  };
  const journal = new Journal({ path, sessionId: id, cwd, now: () => at, onFailure });
  for (const { at: time, ...entry } of entries) {
    at = time;
    journal.append(entry);
  }
  await journal.sync();
  journal.close();
  if (failure !== undefined) throw new Error(failure);
}
