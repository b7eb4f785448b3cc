/**
 * Verdicts of a user whose editor reports none: at the start of a turn, each hunk that the turn before it left in a file is
 * compared with the file. Each hunk gets one verdict.
 */
import { nodeFiles } from "../host/node-files.ts";
import type { Hunk } from "../platform/hunks.ts";
import type { ReviewOutcome } from "../sessions/outcome-entries.ts";
import type { FileDiff } from "../tools/tool.ts";

/** Comparing large texts takes longer than a turn may wait. */
const MAX_FILES = 30;
const MAX_CHARS = 400_000;

/** Current text of a file, null for none; undefined when it cannot be read. */
type ReadText = (path: string) => Promise<string | null | undefined>;

/** Time of one read. Milliseconds. */
const READ_MS = 1_000;

/** Reads from the disk: an editor that serves files is asked for the agent's own reads alone. */
export async function readFromDisk(path: string): Promise<string | null | undefined> {
  const read = await nodeFiles()
    .readText(path, AbortSignal.timeout(READ_MS))
    .catch(() => undefined);
  if (read?.ok === true) return read.text;
  return read?.reason === "missing" ? null : undefined;
}

/** Texts of a file before and after the turn that edited it. */
type LeftFile = { readonly path: string; readonly before: string; readonly after: string };

export class InferredVerdicts {
  readonly #read: ReadText;
  /** Texts of the files before the turn's first edit. */
  #before = new Map<string, string>();
  /** Texts before and after the last turn. */
  #left: readonly LeftFile[] = [];
  /** Edits of the turn before this process. */
  #earlier: (() => readonly FileDiff[]) | undefined;

  constructor(read: ReadText, earlier?: () => readonly FileDiff[]) {
    this.#read = read;
    this.#earlier = earlier;
  }

  /** Notes an edit of the running turn. */
  edited({ path, oldText }: FileDiff): void {
    if (!this.#before.has(path) && this.#before.size < MAX_FILES) this.#before.set(path, oldText ?? "");
  }

  /** Notes the texts that the turn leaves, also after formatters that it ran. */
  async endTurn(): Promise<void> {
    const edited = [...this.#before];
    this.#before = new Map();
    const left = await Promise.all(
      edited.map(async ([path, before]) => {
        const after = await this.#read(path);
        const isCompared = typeof after === "string" && before.length + after.length <= MAX_CHARS;
        return isCompared ? [{ path, before, after }] : [];
      }),
    );
    this.#left = left.flat();
  }

  /** Verdicts on the hunks of the last turn, one each. */
  async infer(): Promise<readonly ReviewOutcome[]> {
    const [noted, earlier] = [this.#left, this.#earlier?.()];
    this.#left = [];
    this.#earlier = undefined;
    if ((earlier ?? noted).length === 0) return [];
    const left = earlier === undefined ? noted : leftBy(earlier);
    const all = await Promise.all(
      left.map(async ({ path, before, after }) => {
        const found = await this.#read(path);
        const now = found ?? "";
        if (found === undefined || now.length > MAX_CHARS) return [];
        return (await verdictsOn({ before, after, now })).map((verdict) => ({ path, ...verdict }));
      }),
    );
    return all.flat();
  }
}

/** Texts before the first and after the last edit of each file. A deleted or too large file is left out. */
function leftBy(edits: readonly FileDiff[]): readonly LeftFile[] {
  const files = new Map<string, LeftFile | undefined>();
  for (const { path, oldText, newText } of edits) {
    const before = files.get(path)?.before ?? oldText ?? "";
    if (files.has(path) || files.size < MAX_FILES) {
      files.set(path, newText === null ? undefined : { path, before, after: newText });
    }
  }
  return [...files.values()]
    .filter((file) => file !== undefined)
    .filter(({ before, after }) => before.length + after.length <= MAX_CHARS);
}

type Texts = { readonly before: string; readonly after: string; readonly now: string };

/** One verdict for each hunk between the texts before and after, by the present text. */
async function verdictsOn({ before, after, now }: Texts): Promise<readonly Omit<ReviewOutcome, "path">[]> {
  // Loaded after the first edit: no start needs its code.
  const { hunksBetween } = await import("../platform/hunks.ts");
  const since = hunksBetween(after, now);
  return hunksBetween(before, after).map((hunk) => {
    const lines = hunk.newLines.length + hunk.oldLines.length;
    const touching = since.filter((change) => overlaps(change, hunk));
    if (touching.length === 0) return { outcome: "kept", lines };
    const returned = touching.flatMap(({ newLines }) => newLines);
    const isUndone = returned.join("").trimEnd() === hunk.oldLines.join("").trimEnd();
    return { outcome: isUndone ? "undone" : "retyped", lines };
  });
}

/** True for a change of the hunk's new lines; an insertion counts between them, or in the place of a hunk without lines. */
function overlaps({ oldStart, oldLines }: Hunk, { newStart, newLines }: Hunk): boolean {
  const end = newStart + newLines.length;
  if (newLines.length === 0) return oldLines.length === 0 && oldStart === newStart;
  if (oldLines.length === 0) return oldStart > newStart && oldStart < end;
  return oldStart < end && oldStart + oldLines.length > newStart;
}
