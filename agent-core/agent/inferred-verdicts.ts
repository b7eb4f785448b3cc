/**
 * Verdicts of a user whose editor reports none: at the start of a turn, each hunk that the turn before it left in a file is
 * compared with the file. Each hunk gets one verdict.
 */
import { nodeFiles } from "../host/node-files.ts";
import type { ReviewOutcome } from "../sessions/outcome-entries.ts";
import type { FileDiff } from "../tools/tool.ts";
import type { LeftFile } from "./hunk-verdicts.ts";

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
    // Loaded after the first edit: no start needs its code.
    const { leftBy, verdictsOn } = await import("./hunk-verdicts.ts");
    const left = earlier === undefined ? noted : leftBy(earlier, MAX_FILES, MAX_CHARS);
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
