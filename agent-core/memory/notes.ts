/** Entries of a memory file: parsing, formatting and changes. Pure. */
import { oneLine } from "../platform/one-line.ts";

/** Notes of the work, of the project, and about the user: the files of the memory, and the order of a prompt. */
export const MEMORY_TARGETS = ["memory", "project", "user"] as const;

/** Separator of two entries. */
const DIVIDER = "\n§\n";
/** Part of an entry in an error message. Characters. */
const PREVIEW_CHARS = 60;

export type Notes = readonly string[];

export type NoteChange =
  | { readonly action: "add"; readonly content: string }
  /** `content` replaces the only entry that contains `oldText`. */
  | { readonly action: "replace"; readonly oldText: string; readonly content: string }
  | { readonly action: "remove"; readonly oldText: string };

export type ChangedNotes =
  /** `evicted`: the oldest entries, which no longer fit. */
  | { readonly ok: true; readonly notes: Notes; readonly evicted: Notes }
  | { readonly ok: false; readonly message: string };

export function parseNotes(text: string): Notes {
  return text
    .replaceAll("\r\n", "\n")
    .split(/^§[ \t]*$/m)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

export function formatNotes(notes: Notes): string {
  return notes.length === 0 ? "" : `${notes.join(DIVIDER)}\n`;
}

/** Length of all entries with their separators. Characters. */
export function notesLength(notes: Notes): number {
  return notes.join(DIVIDER).length;
}

/** `limit` is the length of all entries together. Characters. */
export function changeNotes(notes: Notes, change: NoteChange, limit: number): ChangedNotes {
  switch (change.action) {
    case "add":
      return added(notes, change.content, limit);
    case "replace": {
      const found = findNote(notes, change.oldText);
      if (!found.ok) return found;
      const content = cleaned(change.content);
      if (notes.includes(content)) return refused("an entry with exactly this text already exists.");
      return fitted(notes.with(found.index, content), found.index, limit);
    }
    case "remove": {
      const found = findNote(notes, change.oldText);
      return found.ok ? { ok: true, notes: notes.toSpliced(found.index, 1), evicted: [] } : found;
    }
  }
}

function added(notes: Notes, text: string, limit: number): ChangedNotes {
  const content = cleaned(text);
  if (content === "") return refused("content is empty.");
  if (notes.includes(content)) return refused("an entry with exactly this text already exists.");
  return fitted([...notes, content], notes.length, limit);
}

/** Evicts the oldest entries until the rest fits, but never the entry at `kept`. */
function fitted(notes: Notes, kept: number, limit: number): ChangedNotes {
  const entry = notes[kept] ?? "";
  if (entry.length > limit) {
    return refused(`the entry has ${entry.length} characters; all entries together may have ${limit}. Shorten it.`);
  }
  const left = [...notes];
  const evicted: string[] = [];
  while (notesLength(left) > limit) {
    const oldest = left.findIndex((note) => note !== entry);
    evicted.push(...left.splice(oldest, 1));
  }
  return { ok: true, notes: left, evicted };
}

function findNote(
  notes: Notes,
  oldText: string,
): { readonly ok: true; readonly index: number } | { readonly ok: false; readonly message: string } {
  const wanted = oldText.trim();
  if (wanted === "") return refused("old_text is empty.");
  const holding = notes.flatMap((note, index) => (note.includes(wanted) ? [index] : []));
  const equal = notes.indexOf(wanted);
  const [index] = equal >= 0 ? [equal] : holding;
  if (index !== undefined && (equal >= 0 || holding.length === 1)) return { ok: true, index };
  if (index === undefined)
    return refused(`no entry holds ${JSON.stringify(oneLine(wanted, PREVIEW_CHARS))}. Entries:${listed(notes)}`);
  const several = holding.map((at) => notes[at] ?? "");
  return refused(
    `${holding.length} entries hold ${JSON.stringify(oneLine(wanted, PREVIEW_CHARS))}. Give more of one:${listed(several)}`,
  );
}

function listed(notes: Notes): string {
  return notes.length === 0 ? " none." : notes.map((note) => `\n- ${oneLine(note, PREVIEW_CHARS)}`).join("");
}

/** Removes separators from an entry's text. */
function cleaned(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(/^§[ \t]*$/gm, "")
    .trim();
}

function refused(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
