/**
 * Verdicts of a user whose editor reports none: at the start of a turn, each hunk that the turn before it left in a file is
 * compared with the file. Each hunk gets one verdict.
 */
import { structuredPatch } from "diff";
import { nodeFiles } from "../host/node-files.ts";
import type { ReviewOutcome } from "../sessions/outcome-entries.ts";
import type { FileDiff } from "../tools/tool.ts";

/** Comparing large texts takes longer than a turn may wait. */
const MAX_FILES = 30;
const MAX_CHARS = 400_000;
const MAX_CHANGED_LINES = 1_000;

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
    const left = this.#earlier === undefined ? this.#left : leftBy(this.#earlier());
    this.#left = [];
    this.#earlier = undefined;
    const all = await Promise.all(
      left.map(async ({ path, before, after }) => {
        const found = await this.#read(path);
        const now = found ?? "";
        return found === undefined || now.length > MAX_CHARS
          ? []
          : verdictsOn({ before, after, now }).map((verdict) => ({ path, ...verdict }));
      }),
    );
    return all.flat();
  }
}

function isCompared({ before, after }: LeftFile): boolean {
  return before.length + after.length <= MAX_CHARS;
}

type LeftFile = { readonly path: string; readonly before: string; readonly after: string };

/** Texts before the first and after the last edit of each file. A deleted file is left out. */
function leftBy(edits: readonly FileDiff[]): readonly LeftFile[] {
  const files = new Map<string, LeftFile | undefined>();
  for (const { path, oldText, newText } of edits) {
    const before = files.get(path)?.before ?? oldText ?? "";
    if (files.has(path) || files.size < MAX_FILES) {
      files.set(path, newText === null ? undefined : { path, before, after: newText });
    }
  }
  return [...files.values()].filter((file) => file !== undefined).filter(isCompared);
}

type Texts = { readonly before: string; readonly after: string; readonly now: string };

/** Changed lines; the range is of the first text's lines, from 0. */
type Change = { readonly start: number; readonly removed: readonly string[]; readonly added: readonly string[] };

function verdictsOn({ before, after, now }: Texts): readonly Omit<ReviewOutcome, "path">[] {
  const since = changes(after, now);
  let shift = 0;
  return changes(before, after).map((hunk) => {
    const start = hunk.start + shift;
    shift += hunk.added.length - hunk.removed.length;
    const lines = hunk.added.length + hunk.removed.length;
    const touching = since.filter((change) => overlaps(change, { start, end: start + hunk.added.length }));
    if (touching.length === 0) return { outcome: "kept", lines };
    const returned = touching.flatMap(({ added }) => added);
    return { outcome: returned.join("\n") === hunk.removed.join("\n") ? "undone" : "retyped", lines };
  });
}

/** True for a change of these lines; an insertion counts between them, or in the place of a hunk without lines. */
function overlaps({ start, removed }: Change, range: { readonly start: number; readonly end: number }): boolean {
  if (range.start === range.end) return removed.length === 0 && start === range.start;
  if (removed.length === 0) return start > range.start && start < range.end;
  return start < range.end && start + removed.length > range.start;
}

/** None for texts that differ too much. */
function changes(from: string, to: string): readonly Change[] {
  const patch = structuredPatch("", "", from, to, "", "", { context: 0, maxEditLength: MAX_CHANGED_LINES });
  return (patch?.hunks ?? []).map(({ oldStart, lines }) => ({
    start: oldStart - 1,
    removed: lines.filter((line) => line.startsWith("-")).map((line) => line.slice(1)),
    added: lines.filter((line) => line.startsWith("+")).map((line) => line.slice(1)),
  }));
}
