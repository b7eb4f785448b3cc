/** Recovers entries from a damaged line of a journal, such as two lines without a newline between them. */
import { type JournalEntry, parseEntry, parseLine } from "./entry.ts";

/** First characters of every entry. Parts of messages can begin like this too. */
export const ENTRY_START = '{"type":"';
/** Limit of parse attempts: a damaged line can hold thousands of candidates. */
const MAX_ATTEMPTS = 500;

export type RecoveredEntry = { readonly json: unknown; readonly text: string };

/** All entries in the text of a line, whole or damaged. */
export function entriesIn(line: string): readonly JournalEntry[] {
  const entry = parseEntry(line);
  if (entry !== undefined) return [entry];
  if (parseLine(line) !== undefined) return []; // an entry of a later version
  return recoverEntries(line).flatMap(({ text }) => parseEntry(text) ?? []);
}

/** Texts within `line` that are JSON and begin like an entry, in order and without overlap. */
export function recoverEntries(line: string): readonly RecoveredEntry[] {
  const starts = startsIn(line);
  const ends = [...starts.filter((start) => isBoundary(line, start)), line.length];
  const saved: RecoveredEntry[] = [];
  let attempts = 0;
  let from = 0;
  for (const start of starts) {
    if (start < from) continue; // inside an entry that is already recovered
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

/** True between two entries. Within an entry a comma separates the objects. */
function isBoundary(line: string, start: number): boolean {
  return line[start - 1] === "}" || (line[start - 2] === "}" && line[start - 1] !== ",");
}

/** Parses up to `end`, or up to the character before it, which may be a newline. */
function parsed(line: string, start: number, end: number): RecoveredEntry | undefined {
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
