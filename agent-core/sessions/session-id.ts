/** Names of sessions: sortable by time, safe as a file name. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";

const SESSION_ID = /^\d{8}_\d{6}_[0-9a-f]{8}$/;

/** `20261120_224650_1f9c03ab`: UTC time of birth and chance. */
export function newSessionId(now: number): string {
  return sessionIdOf(now, randomBytes(4).toString("hex"));
}

/** `end`: eight hexadecimal digits. */
export function sessionIdOf(now: number, end: string): string {
  const [date = "", time = ""] = new Date(now).toISOString().split("T");
  return `${date.replaceAll("-", "")}_${time.slice(0, 8).replaceAll(":", "")}_${end}`;
}

export function isSessionId(id: string): boolean {
  return SESSION_ID.test(id);
}

/** Path of a session's journal in `folder`; undefined when `id` is no session's name (and so no safe file name). */
export function journalPath(folder: string, id: string): string | undefined {
  return SESSION_ID.test(id) ? join(folder, `${id}.jsonl`) : undefined;
}
