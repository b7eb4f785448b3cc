/** Names a stored session that nobody has open. */

import { messageOf } from "../platform/errors.ts";
import { appendEntries } from "./append-entries.ts";
import type { StoredSession } from "./read-journal.ts";
import { titleLine } from "./title-line.ts";

/** Rejects with an Error in one line when it cannot be written. */
export async function renameSession(session: StoredSession, title: string): Promise<void> {
  try {
    await appendEntries(session, [{ type: "title", title: titleLine(title), at: Date.now() }]);
  } catch (error) {
    const reason = messageOf(error);
    throw new Error(`The name cannot be stored: ${reason}`, { cause: error });
  }
}
