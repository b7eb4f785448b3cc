/** The part of a journal that was not read yet. */
import { open } from "node:fs/promises";
import { type JournalEntry, parseEntry } from "../entry.ts";

const NEWLINE = 10;

export type NewEntries = {
  readonly entries: readonly JournalEntry[];
  /** Where the next reading begins: after the last whole line. */
  readonly end: number;
};

/** Reads from byte `start` to the last whole line; damaged lines are left out. Rejects with the system's error. */
export async function readNewEntries(path: string, start: number): Promise<NewEntries> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.max(0, size - start));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
    const whole = bytes.subarray(0, bytes.subarray(0, bytesRead).lastIndexOf(NEWLINE) + 1);
    const lines = whole.toString("utf8").split("\n");
    return { entries: lines.map(parseEntry).filter((entry) => entry !== undefined), end: start + whole.length };
  } finally {
    await file.close();
  }
}
