/**
 * Ranks the matches of a search after `@`. Files are searched in slices, because the extension host must not be blocked
 * for more than 5 ms.
 */
import { setImmediate } from "node:timers/promises";
import fuzzysort, { type KeyResult, type SnapshotKey } from "fuzzysort";
import type { MentionItem } from "../../agent-core/protocol/attachments.ts";

/** Work between two yields to the event loop. Milliseconds. */
const SLICE_MS = 2;
/** Files between two readings of the clock: the first search of a slice, which prepares its names, takes 1 ms. */
const SLICE_FILES = 250;

/** Limit of the results of one search. */
const MAX_MENTIONS = 50;
/** Limit of kept results; beyond it the worst are dropped. */
const MANY = 2 * MAX_MENTIONS;
/** Lowest score of a match: worse ones look random. */
const LEAST_SCORE = 0.3;
/** Boost of a file that is open or was used recently. */
const RECENT_BOOST = 0.15;
/** Boost of a source, such as the problems, whose name starts with the query. */
const PREFIX_BOOST = 0.3;

/** A file or a folder. `path` is relative to the root with this index, with slashes. */
export type FileEntry = { readonly root: number; readonly path: string; readonly isFolder: boolean };

export type FileMatch = FileEntry & { readonly score: number; readonly marks: MentionItem["marks"] };

/** A folder, and the entries directly in it. `path` is without accents. */
type Folder = { readonly path: string; readonly entries: FileEntry[] };

/**
 * Names of all files. The last part of a query, after a slash or a space, matches names; the parts before it match the
 * folders above.
 */
export class FileIndex {
  #size = 0;
  #slices: readonly SnapshotKey<FileEntry>[] = [];
  #folders: readonly Folder[] = [];

  get size(): number {
    return this.#size;
  }

  /** Replaces the files, in slices. Searches use the earlier files until the new ones are ready. */
  async replace(entries: Iterable<FileEntry>): Promise<void> {
    const slices: SnapshotKey<FileEntry>[] = [];
    const folders = new Map<string, Folder>();
    const pace = new Pace();
    let size = 0;
    let slice: FileEntry[] = [];
    const endSlice = (): void => {
      slices.push(fuzzysort.snapshot(slice, { key: searchedName }));
      slice = [];
    };
    for (const entry of entries) {
      size += 1;
      slice.push(entry);
      const path = entry.path.slice(0, Math.max(0, entry.path.lastIndexOf("/")));
      const folder = folders.get(`${entry.root}:${path}`) ?? { path: withoutAccents(path), entries: [] };
      folders.set(`${entry.root}:${path}`, folder);
      folder.entries.push(entry);
      if (slice.length < SLICE_FILES) continue;
      endSlice();
      await pace.yieldIfDue();
    }
    endSlice();
    this.#size = size;
    this.#slices = slices;
    this.#folders = [...folders.values()];
  }

  /** Best matches first; files that are `isRecent` come earlier. Rejects with the signal's reason. */
  async search(
    query: string,
    isRecent: (file: FileEntry) => boolean,
    signal: AbortSignal,
  ): Promise<readonly FileMatch[]> {
    const parts = withoutAccents(query)
      .split(/[/\\\s]+/)
      .filter((part) => part !== "");
    const name = /[/\\]$/.test(query) ? "" : (parts.pop() ?? "");
    const found =
      parts.length === 0 ? await this.#inAll(name, signal) : inFolders(name, this.#foldersAt(parts.join(" ")));
    return found
      .map((match) => (isRecent(match) ? { ...match, score: match.score + RECENT_BOOST } : match))
      .sort((one, other) => other.score - one.score || one.path.length - other.path.length);
  }

  async #inAll(name: string, signal: AbortSignal): Promise<readonly FileMatch[]> {
    const best: KeyResult<FileEntry>[] = [];
    const pace = new Pace();
    let threshold = LEAST_SCORE;
    for (const slice of this.#slices) {
      best.push(...fuzzysort.go(name, slice, { limit: MAX_MENTIONS, threshold }));
      if (best.length > MANY) {
        best.sort(byScore).splice(MAX_MENTIONS);
        threshold = best.at(-1)?.score ?? threshold;
      }
      await pace.yieldIfDue();
      signal.throwIfAborted();
    }
    return best.sort(byScore).slice(0, MAX_MENTIONS).map(matchOf);
  }

  /** Folders with these words in their path, best first. */
  #foldersAt(path: string): readonly Folder[] {
    const options = { key: "path", limit: MAX_FOLDERS, threshold: LEAST_SCORE } as const;
    return fuzzysort.go(path, this.#folders, options).map(({ obj }) => obj);
  }
}

/** Limits of a query with a path, in folders and their entries: more would take too long at once. */
const MAX_FOLDERS = 40;
const MAX_IN_FOLDERS = 2_000;

/** Matches in these folders; without a name, all entries of the best ones. */
function inFolders(name: string, folders: readonly Folder[]): readonly FileMatch[] {
  const entries = folders.flatMap((folder) => folder.entries).slice(0, MAX_IN_FOLDERS);
  if (name === "") return entries.slice(0, MAX_MENTIONS).map((entry) => ({ ...entry, score: 1, marks: [] }));
  return fuzzysort.go(name, entries, { key: searchedName, limit: MAX_MENTIONS, threshold: LEAST_SCORE }).map(matchOf);
}

function nameOf({ path }: FileEntry): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function searchedName(entry: FileEntry): string {
  return withoutAccents(nameOf(entry));
}

/** Of equal matches, the file with the shorter path comes first. */
function byScore(one: KeyResult<FileEntry>, other: KeyResult<FileEntry>): number {
  return other.score - one.score || one.obj.path.length - other.obj.path.length;
}

function matchOf({ obj, score, indexes }: KeyResult<FileEntry>): FileMatch {
  return { ...obj, score, marks: rangesOf(indexes, nameOf(obj)) };
}

/** Yields to the event loop after each slice of work. */
class Pace {
  #since = performance.now();

  async yieldIfDue(): Promise<void> {
    if (performance.now() - this.#since < SLICE_MS) return;
    await setImmediate();
    this.#since = performance.now();
  }
}

export function* withFolders(files: Iterable<Omit<FileEntry, "isFolder">>): Generator<FileEntry> {
  const folders = new Set<string>();
  for (const { root, path } of files) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      const key = `${root}:${folder}`;
      if (folders.has(key)) break;
      folders.add(key);
      yield { root, path: folder, isFolder: true };
    }
    yield { root, path, isFolder: false };
  }
}

export type ScoredMention = { readonly item: MentionItem; readonly score: number };

/** Items whose label matches. `weight`: factor of their scores. */
export function matchItems(query: string, items: readonly MentionItem[], weight: number): readonly ScoredMention[] {
  const searched = withoutAccents(query);
  const start = searched.toLowerCase();
  const key = ({ attachment }: MentionItem): string => withoutAccents(attachment.label);
  const found = fuzzysort.go(searched, items, { key, limit: MANY, threshold: LEAST_SCORE });
  return found.map(({ obj, target, score, indexes }) => {
    const boost = target.toLowerCase().startsWith(start) ? PREFIX_BOOST : 0;
    return { item: { ...obj, marks: rangesOf(indexes, obj.attachment.label) }, score: (score + boost) * weight };
  });
}

export function bestMentions(...sources: readonly (readonly ScoredMention[])[]): readonly MentionItem[] {
  const all = sources.flat().sort((one, other) => other.score - one.score);
  return all.slice(0, MAX_MENTIONS).map(({ item }) => item);
}

/** Letters of several, which Unicode does not take apart. Letters such as ø and ł are known to fuzzysort. */
const LETTERS: Readonly<Record<string, string>> = { ß: "ss", ẞ: "SS", æ: "ae", Æ: "AE", œ: "oe", Œ: "OE" };

/** The text as it is searched: `grüße` is `grusse`, however its letters are encoded. */
function withoutAccents(text: string): string {
  return isAscii(text) ? text : Array.from(text, baseLetters).join("");
}

function isAscii(text: string): boolean {
  return !/[^\x20-\x7E]/.test(text);
}

function baseLetters(letter: string): string {
  return LETTERS[letter] ?? letter.normalize("NFKD").replaceAll(/[\u0300-\u036F]/g, "");
}

/** Neighbouring indexes of `withoutAccents(text)` as ranges of `text`. A letter is marked with its accents. */
function rangesOf(indexes: readonly number[], text: string): readonly (readonly [number, number])[] {
  const found = new Set(indexes);
  const ranges: [number, number][] = [];
  let start = 0;
  let at = 0;
  let isMarked = false;
  for (const letter of text) {
    const { length } = isAscii(letter) ? letter : baseLetters(letter);
    if (length > 0) isMarked = Array.from({ length }, (_, part) => at + part).some((index) => found.has(index));
    const last = ranges.at(-1);
    const end = start + letter.length;
    if (isMarked && last?.[1] === start) last[1] = end;
    else if (isMarked) ranges.push([start, end]);
    at += length;
    start = end;
  }
  return ranges;
}
