/** Names a stored session that nobody has open. */
import { Journal } from "./journal.ts";
import type { StoredSession } from "./read-journal.ts";
import { titleLine } from "./title-line.ts";

/** `path` is its journal. Throws an Error in one line when it cannot be written. */
export async function renameSession(path: string, { id, cwd }: StoredSession, title: string): Promise<void> {
  let failure: string | undefined;
  const onFailure = (_message: string, reason: string): void => {
    failure ??= `The name cannot be stored: ${reason}`;
  };
  const journal = new Journal({ path, sessionId: id, cwd, now: Date.now, onFailure });
  journal.append({ type: "title", title: titleLine(title) });
  await journal.sync();
  journal.close();
  if (failure !== undefined) throw new Error(failure);
}
