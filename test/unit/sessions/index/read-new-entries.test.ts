import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readNewEntries } from "../../../../agent-core/sessions/index/catch-up.ts";

const PIECE_BYTES = 262_144;
/** A piece takes the rest of a line along. */
const REST_BYTES = 2_000;
const LINES = 40_000;
const LONG_LINE = 20_000;
const LONG_LINE_CHARS = 3_000_000;
const PATIENCE_MS = 60_000;
const MEGABYTE = 1_048_576;

let folder: string;
let path: string;

// A journal of some fifty megabytes, with a line in its middle that is longer than a piece, and a torn one at its end.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-growth-"));
  path = join(folder, "journal.jsonl");
  const file = openSync(path, "w");
  const filling = "größer ".repeat(150);
  for (let number = 0; number < LINES; number += 1) writeSync(file, `${line(number, filling)}\n`);
  writeSync(file, line(LINES, filling).slice(0, 500));
  closeSync(file);
}, PATIENCE_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function line(number: number, filling: string): string {
  const content = `${number} ${number === LONG_LINE ? "x".repeat(LONG_LINE_CHARS) : filling}`;
  return JSON.stringify({ type: "message", message: { role: "user", content }, at: number });
}

test("a large journal comes in pieces that are small, in order, each line once; the torn one waits", async () => {
  let [next, end, pieces] = [0, 0, 0];
  for await (const piece of readNewEntries(path, 0)) {
    const bytes = piece.end - end;
    const isLong = next <= LONG_LINE && LONG_LINE < next + piece.entries.length;
    if (!isLong) expect(bytes).toBeLessThanOrEqual(PIECE_BYTES + REST_BYTES);
    const expected = piece.entries.map((_, at) => next + at);
    expect(piece.entries.map(({ at }) => at)).toEqual(expected);
    next += piece.entries.length;
    end = piece.end;
    pieces += 1;
  }
  expect(next).toBe(LINES);
  expect(pieces).toBeGreaterThan(statSync(path).size / PIECE_BYTES / 2);
  expect(statSync(path).size - end).toBeGreaterThan(0);
  expect(statSync(path).size).toBeGreaterThan(40 * MEGABYTE);
  expect(await entriesFrom(end)).toEqual([]);
});

test("reading continues at its last position, also in the middle of a journal", async () => {
  const pieces = readNewEntries(path, 0);
  const first = await pieces.next();
  await pieces.return(undefined);
  if (first.done === true) throw new Error("nothing was read");
  const { entries, end } = first.value;
  const rest = await entriesFrom(end);
  expect(rest[0]).toBe(entries.length);
  expect(rest).toHaveLength(LINES - entries.length);
});

/** Times of the entries, by which they are numbered. */
async function entriesFrom(start: number): Promise<number[]> {
  const found: number[] = [];
  for await (const { entries } of readNewEntries(path, start)) found.push(...entries.map(({ at }) => at));
  return found;
}
