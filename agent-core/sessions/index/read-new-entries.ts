/** The part of a journal that was not read yet, a piece at a time: a journal may be larger than memory should hold. */
import { open } from "node:fs/promises";
import { entriesIn } from "../damaged-line.ts";
import type { JournalEntry } from "../entry.ts";

const NEWLINE = 10;
/** Read at a time; a longer line is read in one piece all the same. Bytes. */
const PIECE_BYTES = 262_144;

export type NewEntries = {
  readonly entries: readonly JournalEntry[];
  /** Where the next reading begins: after the last whole line. */
  readonly end: number;
};

/** Reads from byte `start` to the last whole line; what is damaged is left out. Throws the system's error. */
export async function* readNewEntries(path: string, start: number): AsyncGenerator<NewEntries> {
  const file = await open(path, "r");
  try {
    let end = start;
    let size = PIECE_BYTES;
    for (;;) {
      const bytes = Buffer.allocUnsafe(size);
      const { bytesRead } = await file.read(bytes, 0, size, end);
      const whole = bytes.subarray(0, bytes.subarray(0, bytesRead).lastIndexOf(NEWLINE) + 1);
      if (whole.length > 0) {
        end += whole.length;
        const lines = whole.toString("utf8").split("\n");
        yield { entries: lines.flatMap(entriesIn), end };
      }
      if (bytesRead < size) return;
      size = whole.length > 0 ? PIECE_BYTES : size * 2;
    }
  } finally {
    await file.close();
  }
}
