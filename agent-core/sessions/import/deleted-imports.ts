/**
 * Imported sessions that the user has deleted since: without a word of theirs the next import would bring them back. A
 * file beside the journals, with an id a line, that only grows; a line that a dying process tore is passed over.
 */
import { open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hasCode } from "../../platform/errors.ts";
import { parseEntry } from "../entry.ts";
import { readLines } from "../journal-lines.ts";
import { isSessionId } from "../session-id.ts";

const NAME = "deleted-imports";

/** Notes that the session in `journal` (absolute) is deleted, if it was imported. Rejects with the system's error. */
export async function noteDeletion(journal: string, id: string): Promise<void> {
  if (!(await wasImported(journal))) return;
  const file = await open(join(dirname(journal), NAME), "a", 0o600);
  try {
    // On a line of its own, whatever the last one came to.
    await file.appendFile(`\n${id}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Ids of the sessions that were imported into the folder `journals` (absolute) and deleted. Rejects when it cannot be read. */
export async function deletedImports(journals: string): Promise<ReadonlySet<string>> {
  const text = await readFile(join(journals, NAME), "utf8").catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return ""; // none was deleted
    throw error;
  });
  return new Set(text.split("\n").filter(isSessionId));
}

async function wasImported(journal: string): Promise<boolean> {
  for await (const [head] of readLines(journal)) {
    if (head === undefined) continue; // a line longer than what is read at once
    const entry = parseEntry(head.bytes.toString("utf8"));
    return entry?.type === "session" && entry.source === "import";
  }
  return false;
}
