/** What can be saved of a journal's line that is no entry: lines that ran into each other, what stands behind half of one. */
import { type JournalEntry, parseEntry, parseLine } from "./entry.ts";

/** How an entry begins. Parts of messages begin like it, too. */
export const ENTRY_START = '{"type":"';
/** A line of thousands of parts is not tried at each two of them. */
const MAX_ATTEMPTS = 500;

export type Saved = { readonly json: unknown; readonly text: string };

/** Every entry of a line, from its text, whole or damaged. */
export function entriesIn(line: string): readonly JournalEntry[] {
  const entry = parseEntry(line);
  if (entry !== undefined) return [entry];
  if (parseLine(line) !== undefined) return []; // of a later version
  return savedFrom(line).flatMap(({ text }) => parseEntry(text) ?? []);
}

/** The texts within `line` that are JSON and begin as entries do, none within another, in order. */
export function savedFrom(line: string): readonly Saved[] {
  const starts = startsIn(line);
  const ends = [...starts.filter((start) => isBoundary(line, start)), line.length];
  const saved: Saved[] = [];
  let attempts = 0;
  let from = 0;
  for (const start of starts) {
    if (start < from) continue; // a part of what was saved
    for (const end of ends) {
      if (end <= start) continue;
      attempts += 1;
      if (attempts > MAX_ATTEMPTS) return saved;
      const found = parsed(line, start, end);
      if (found === undefined) continue;
      saved.push(found);
      from = end;
      break;
    }
  }
  return saved;
}

/** One entry ends and the next begins: never within one, whose objects a comma divides. */
function isBoundary(line: string, start: number): boolean {
  return line[start - 1] === "}" || (line[start - 2] === "}" && line[start - 1] !== ",");
}

/** Up to `end`, or to the one character before it that was the newline. */
function parsed(line: string, start: number, end: number): Saved | undefined {
  for (const text of [line.slice(start, end), line.slice(start, end - 1)]) {
    const json = parseLine(text);
    if (json !== undefined) return { json, text };
  }
  return undefined;
}

function startsIn(line: string): readonly number[] {
  const starts: number[] = [];
  for (let at = line.indexOf(ENTRY_START); at >= 0; at = line.indexOf(ENTRY_START, at + 1)) starts.push(at);
  return starts;
}
