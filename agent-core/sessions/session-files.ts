/** Names and files of sessions. Ids sort by time and are safe as file names. */
import { readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder } from "../platform/make-folder.ts";
import { newId } from "../platform/new-id.ts";

const JOURNAL_END = ".jsonl";
const SESSION_ID = /^\d{8}_\d{6}_[0-9a-f]{8}$/;

/** `20261120_224650_1f9c03ab`: UTC time and eight random hexadecimal digits. */
export function newSessionId(now: number): string {
  return sessionIdOf(now, newId().slice(0, 8));
}

/** `end`: eight hexadecimal digits. */
export function sessionIdOf(now: number, end: string): string {
  const [date = "", time = ""] = new Date(now).toISOString().split("T");
  return `${date.replaceAll("-", "")}_${time.slice(0, 8).replaceAll(":", "")}_${end}`;
}

export function isSessionId(id: string): boolean {
  return SESSION_ID.test(id);
}

/** Path of a session's journal in `folder`. Undefined when `id` is not a session id, and so no safe file name. */
export function journalPath(folder: string, id: string): string | undefined {
  return SESSION_ID.test(id) ? join(folder, id + JOURNAL_END) : undefined;
}

/** Ids of the sessions with a journal in `folder`, oldest first; none for a missing folder. */
export async function sessionIdsIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const ids = names.flatMap((name) => (name.endsWith(JOURNAL_END) ? [name.slice(0, -JOURNAL_END.length)] : []));
  return ids.filter(isSessionId).toSorted();
}

/** Path of a file for one tool call: `prefix`, the call's id, `suffix`. The ids of models hold any characters. */
export function spillPath(
  { spillFolder, callId }: { readonly spillFolder: string; readonly callId: string },
  prefix: string,
  suffix: string,
): string {
  return join(spillFolder, `${prefix}-${callId.replace(/[^\w-]/g, "_")}${suffix}`);
}

/**
 * Writes a result that is too long for a message to `path` (absolute) on the agent's machine, and creates the folder.
 * Rejects with the system's error.
 */
export async function writeSpillFile(path: string, text: string | Uint8Array): Promise<void> {
  makeFolder(dirname(path), 0o700);
  await writeFile(path, text, { mode: 0o600 });
}
