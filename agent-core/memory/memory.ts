/** Memory across sessions: small files that the user can read and change. One project's notes are in a file of their own. */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { appendLines, replaceFile } from "../config/home-file.ts";
import { sectionDefault } from "../config/section-defaults.ts";
import { hasCode, messageOf } from "../platform/errors.ts";
import { withLock } from "../platform/locks/file-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { readText } from "../platform/text-file.ts";
import {
  changedEntry,
  MemoryLedger,
  type MemoryOrigin,
  type MemoryTarget,
  type MemoryWrite,
  undoable,
  undoEntry,
  writeOf,
} from "./memory-ledger.ts";
import {
  type ChangedNotes,
  changeNotes,
  formatNotes,
  MEMORY_TARGETS,
  type NoteChange,
  type Notes,
  notesLength,
  parseNotes,
} from "./notes.ts";

type MemoryLimits = Readonly<Record<"memory" | "user", number>>;

const FILES: Readonly<Record<MemoryTarget, string>> = { memory: "MEMORY.md", project: "MEMORY.md", user: "USER.md" };
/** Folder of the projects' notes. */
const PROJECTS = "projects";
const ARCHIVE = "ARCHIVE.jsonl";
const LEDGER = "LEDGER.jsonl";

export type MemoryOptions = {
  /** Absolute path; the folder may not exist yet. */
  readonly folder: string;
  /** Characters; the notes of a project have the limit of `memory`. */
  readonly limits?: MemoryLimits;
  /** Milliseconds since 1970; default: the system's clock. */
  readonly now?: () => number;
};

export type MemoryPreview =
  /** `oldText` is null without entries. */
  | { readonly ok: true; readonly path: string; readonly oldText: string | null; readonly newText: string }
  | { readonly ok: false; readonly message: string };

/** An entry with the write that it comes from; undefined for one that another program or the user wrote. */
export type MemoryEntry = { readonly text: string; readonly write: MemoryWrite | undefined };

/** Outcome of an undo, in one line for the user. */
export type MemoryUndo = { readonly ok: boolean; readonly message: string };

function defaultLimits(): MemoryLimits {
  const { memoryCharLimit: memory, userCharLimit: user } = sectionDefault("memory");
  return { memory, user };
}

export class Memory {
  readonly #options: MemoryOptions;
  readonly #folder: string;
  readonly #ledger: MemoryLedger;
  readonly #limits: MemoryLimits;
  readonly #now: () => number;
  /** Folder of the project's notes, by name; undefined for a memory without a project. */
  readonly #project: string | undefined;

  constructor(options: MemoryOptions, project?: string) {
    const { folder, limits = defaultLimits(), now = Date.now } = options;
    this.#options = options;
    this.#project = project;
    this.#folder = folder;
    this.#ledger = new MemoryLedger(join(folder, LEDGER), now);
    this.#now = now;
    this.#limits = limits;
  }

  /** The same memory with the notes of the project in `folder` (absolute). */
  forProject(folder: string): Memory {
    const name = basename(folder)
      .replaceAll(/[^\w.-]+/g, "-")
      .slice(0, 40);
    return new Memory(this.#options, `${name}-${hashOf(folder)}`);
  }

  /** The same memory with the notes of the project of this name, which `projects` gives. */
  ofProject(name: string): Memory {
    return new Memory(this.#options, name);
  }

  /** Names of the projects with notes, sorted. Rejects when reading fails. */
  async projects(): Promise<readonly string[]> {
    try {
      const found = await readdir(join(this.#folder, PROJECTS), { withFileTypes: true });
      return found
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .toSorted();
    } catch (error) {
      if (hasCode(error, "ENOENT")) return [];
      throw error;
    }
  }

  limit(target: MemoryTarget): number {
    return this.#limits[target === "project" ? "memory" : target];
  }

  /** File in which the change belongs: that of the entry that it names, or the wanted one. */
  async placed(target: MemoryTarget, change: NoteChange): Promise<MemoryTarget> {
    const wanted = this.#project === undefined && target === "project" ? "memory" : target;
    if (change.action === "add" || wanted === "user") return wanted;
    for (const place of [wanted, wanted === "memory" ? "project" : "memory"] as const) {
      if ((await this.read(place)).some((note) => note.includes(change.oldText.trim()))) return place;
    }
    return wanted;
  }

  /** Current entries of the file, oldest first; none for a missing file. Rejects when reading fails. */
  async read(target: MemoryTarget): Promise<Notes> {
    if (target === "project" && this.#project === undefined) return [];
    try {
      return parseNotes(await readText(this.path(target)));
    } catch (error) {
      if (hasCode(error, "ENOENT")) return [];
      throw error;
    }
  }

  /** Text of the file before and after a change. Rejects when reading fails. */
  async preview(target: MemoryTarget, change: NoteChange): Promise<MemoryPreview> {
    const notes = await this.read(target);
    const changed = changeNotes(notes, change, this.limit(target));
    if (!changed.ok) return changed;
    const oldText = notes.length === 0 ? null : formatNotes(notes);
    return { ok: true, path: this.path(target), oldText, newText: formatNotes(changed.notes) };
  }

  /**
   * Changes the file's current entries, also those of other processes. A change with an origin can be undone. Rejects when
   * writing fails.
   */
  async change(target: MemoryTarget, change: NoteChange, origin?: MemoryOrigin): Promise<ChangedNotes> {
    return this.#write(target, async (notes) => {
      const changed = changeNotes(notes, change, this.limit(target));
      if (!changed.ok) return changed;
      await this.#archive(target, changed.evicted);
      const record = { target, ...this.#projectOf(target), ...changedEntry(notes, changed.notes, changed.evicted) };
      return { ...changed, ...(origin && { record: { ...record, ...origin } }) };
    });
  }

  /** Removes a whole entry for the user. Rejects when writing fails. */
  async remove(target: MemoryTarget, text: string, { sessionId }: { readonly sessionId: string }): Promise<MemoryUndo> {
    const change = { action: "remove", oldText: text } as const;
    const isThere = (await this.read(target)).includes(text);
    const isRemoved = isThere && (await this.change(target, change, { by: "user", sessionId, callId: "" })).ok;
    if (!isRemoved) return { ok: false, message: "This entry of the memory no longer exists." };
    return { ok: true, message: `Removed from the memory: ${ended(text)}` };
  }

  /** Removes a note that the call `callId` wrote, and its records. Rejects when writing fails. */
  async forget(text: string, callId: string): Promise<void> {
    const written = (await this.#ledger.read()).filter((write) => write.callId === callId && write.after === text);
    for (const target of new Set(written.map((write) => write.target))) {
      await this.#write(target, async (notes) => ({
        ok: true,
        notes: notes.filter((note) => note !== text),
        evicted: [],
      }));
    }
    if (written.length > 0) await this.#ledger.forget(text);
  }

  /** Absolute path of the file, which may not exist yet. */
  path(target: MemoryTarget): string {
    const folder = target === "project" ? join(this.#folder, PROJECTS, this.#project ?? "none") : this.#folder;
    return join(folder, FILES[target]);
  }

  #projectOf(target: MemoryTarget): Pick<MemoryWrite, "project"> {
    return target === "project" && this.#project !== undefined ? { project: this.#project } : {};
  }

  /** Entries of the file with their origins, oldest first. Rejects when reading fails. */
  async entries(target: MemoryTarget): Promise<readonly MemoryEntry[]> {
    const [notes, writes] = await Promise.all([this.read(target), this.#ledger.read()]);
    return notes.map((text) => ({ text, write: writeOf(writes, { target, ...this.#projectOf(target) }, text) }));
  }

  /** Writes that can be undone, oldest first. Rejects when reading fails. */
  async writes(): Promise<readonly MemoryWrite[]> {
    return undoable(await this.#ledger.read());
  }

  /** Undoes writes, the last one first. An entry that was changed since then stays as it is. */
  async undo(writes: readonly MemoryWrite[]): Promise<MemoryUndo> {
    if (writes.length === 0) return { ok: false, message: "There is no such change of the memory, or it is undone." };
    const lines: string[] = [];
    let ok = true;
    for (const write of writes.toReversed()) {
      const undone = await this.#undo(write);
      ok &&= undone.ok;
      lines.push(
        undone.ok ? undoneText(write) : `Not undone: ${undone.message} (${write.after ?? write.before ?? ""}).`,
      );
    }
    return { ok, message: lines.join(" ") };
  }

  #undo(write: MemoryWrite): Promise<ChangedNotes> {
    const { id, target, project, sessionId, callId, before, after, index } = write;
    if (project !== this.#project && project !== undefined) return new Memory(this.#options, project).#undo(write);
    return this.#write(target, async (notes) => {
      const changed = undoEntry(notes, write, this.limit(target));
      if (!changed.ok) return changed;
      const origin = { by: "undo" as const, sessionId, callId };
      const entry = { before: after, after: before, index, evicted: [] };
      return { ...changed, record: { target, ...this.#projectOf(target), ...entry, ...origin, undoes: id } };
    });
  }

  /** Writes the notes that `change` makes of the current ones, and its record. One process does so at a time. */
  async #write(
    target: MemoryTarget,
    change: (notes: Notes) => Promise<ChangedNotes & { readonly record?: Omit<MemoryWrite, "id" | "at"> }>,
  ): Promise<ChangedNotes> {
    const path = this.path(target);
    makeFolder(dirname(path), 0o700);
    return withLock(`${path}.lock`, async () => {
      const changed = await change(await this.read(target));
      if (!changed.ok) return changed;
      await replaceFile(path, formatNotes(changed.notes));
      // Without its record the entry is saved all the same, and only cannot be undone.
      if (changed.record !== undefined) await this.#ledger.append(changed.record).catch(() => undefined);
      return changed;
    });
  }

  /** Appends evicted entries to the archive, so that none is lost. */
  async #archive(target: MemoryTarget, evicted: Notes): Promise<void> {
    if (evicted.length === 0) return;
    const at = new Date(this.#now()).toISOString();
    const lines = evicted.map((content) => `${JSON.stringify({ at, target, content })}\n`).join("");
    await appendLines(join(this.#folder, ARCHIVE), lines);
  }
}

/** 32-bit FNV-1a, enough to tell folders of one name apart: `node:crypto` would cost a start 5 ms. */
function hashOf(folder: string): string {
  const hash = Buffer.from(folder).reduce((sum, byte) => Math.imul(sum ^ byte, 0x01000193), 0x811c9dc5);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

function undoneText({ before, after }: MemoryWrite): string {
  return before === null
    ? `Removed from the memory: ${ended(after ?? "")}`
    : `Restored in the memory: ${ended(before)}`;
}

function ended(text: string): string {
  return `${text.replace(/\.$/, "")}.`;
}

/** Memory as text for a session's prompt, frozen at the session's start. */
export type MemorySnapshot = { readonly [Target in MemoryTarget]: string | undefined };

/** First words of the memory in a prompt. */
export const MEMORY_HEADS: Readonly<Record<MemoryTarget, string>> = {
  memory: "MEMORY (your notes from earlier sessions)",
  project: "PROJECT (your notes about this project from earlier sessions)",
  user: "USER (what you know of the user)",
};

export type SnapshotOptions = {
  /** Gives the reason why an entry must not reach the model. */
  readonly isBad: (text: string) => string | undefined;
  /** Called with a line about an unreadable file. The prompt then says that entries are missing. */
  readonly onDefect: (message: string) => void;
};

/** Texts of the files; undefined for one without entries. */
export async function memorySnapshot(memory: Memory, options: SnapshotOptions): Promise<MemorySnapshot> {
  const [notes, project, user] = await Promise.all(MEMORY_TARGETS.map((target) => shown(memory, target, options)));
  return { memory: notes, project, user };
}

/** A file that a person wrote may be longer than its limit. A prompt has at most this multiple of the limit. */
const MAX_LIMITS_IN_PROMPT = 4;

/** The newest entries that have at most `most` characters together; of the last one that fits, only the beginning. */
function fittingPrompt(notes: Notes, maxChars: number): Notes {
  let room = maxChars;
  const cut = notes.findLastIndex((note) => {
    room -= note.length;
    return room < 0;
  });
  const note = notes[cut];
  return note === undefined ? notes : [`${note.slice(0, room).toWellFormed()}…`, ...notes.slice(cut + 1)];
}

async function shown(
  memory: Memory,
  target: MemoryTarget,
  { isBad, onDefect }: SnapshotOptions,
): Promise<string | undefined> {
  let notes: Notes;
  try {
    // Learning repeats each of its entries as a fact, which is in the prompt as long as it holds.
    notes = (await memory.entries(target)).flatMap(({ text, write }) => (write?.by === "learning" ? [] : [text]));
  } catch (error) {
    onDefect(`The memory cannot be read: ${messageOf(error)}`);
    return `${MEMORY_HEADS[target]} [cannot be read at the moment: do not take it for empty]`;
  }
  if (notes.length === 0) return undefined;
  const used = notesLength(notes);
  const limit = memory.limit(target);
  const newest = fittingPrompt(notes, limit * MAX_LIMITS_IN_PROMPT);
  const safe = newest.map((note) => {
    const threat = isBad(note);
    return threat === undefined ? note : `[an entry was left out: it holds ${threat}]`;
  });
  if (newest !== notes) {
    onDefect(`The ${target} notes have ${used} characters. Prompts leave out the oldest of them: shorten the file.`);
    safe.unshift("[older notes were left out: the file is too long]");
  }
  const head = `${MEMORY_HEADS[target]} [${Math.round((used / limit) * 100)}% — ${used}/${limit} characters]`;
  return `${head}\n${formatNotes(safe).trimEnd()}`;
}
