/**
 * List of imported sessions that the user deleted, so that the next import leaves them out. The file lies beside the
 * journals, has one id per line and only grows. A torn line is skipped.
 */
import { open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hasCode } from "../../platform/errors.ts";
import { parseEntry } from "../entry.ts";
import { readLines } from "../journal-lines.ts";
import { isSessionId } from "../session-files.ts";

const NAME = "deleted-imports";

/** Records the deletion of the session in `journal` (absolute) if it was imported. Rejects with the system's error. */
export async function noteDeletion(journal: string, id: string): Promise<void> {
  if (!(await wasImported(journal))) return;
  const file = await open(join(dirname(journal), NAME), "a", 0o600);
  try {
    // The leading newline ends a torn line.
    await file.appendFile(`\n${id}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Ids of deleted imports in the folder `journals` (absolute). Rejects when the list cannot be read. */
export async function deletedImports(journals: string): Promise<ReadonlySet<string>> {
  const text = await readFile(join(journals, NAME), "utf8").catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return ""; // no deletion yet
    throw error;
  });
  return new Set(text.split("\n").filter(isSessionId));
}

async function wasImported(journal: string): Promise<boolean> {
  for await (const [head] of readLines(journal)) {
    if (head === undefined) continue; // the line is longer than one read
    const entry = parseEntry(head.bytes.toString("utf8"));
    return entry?.type === "session" && entry.source === "import";
  }
  return false;
}
