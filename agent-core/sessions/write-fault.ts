/**
 * Failed writes: their reasons in words for people, and reserved disk space, so that a session can still be saved when
 * the disk is full.
 */
import { randomBytes } from "node:crypto";
import { accessSync, constants, unlinkSync } from "node:fs";
import { stat, statfs, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { attempt, codeOf, hasCode } from "../platform/errors.ts";

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "your disk quota is used up",
  EROFS: "the disk is read-only",
  EACCES: "Hermes has no permission to write there",
  EPERM: "Hermes has no permission to write there",
  EIO: "the disk reports an error",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
};

/** A clause without a full stop, with the system's message in parentheses. */
export function writeFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const words = WORDS[codeOf(error) ?? ""];
  return words === undefined ? error.message : `${words} (${error.message})`;
}

/** True when the disk has no space for the write. */
export function isFull(error: unknown): boolean {
  return hasCode(error, "ENOSPC", "EDQUOT");
}

/** Reason why `path` (absolute), or a file next to it, cannot be written. Undefined: unknown. */
export function writeProblem(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
    return undefined;
  } catch (error) {
    return writeFault(error);
  }
}

/** Enough for tens of turns with their outputs and diffs. Bytes. */
const RESERVE_BYTES = 1_024 * 1_024;
/** The reserve is made only when this many times its size is free. */
const PLENTY = 16;

const random = promisify(randomBytes);

export class SpaceReserve {
  readonly #path: string;
  /** True when this process knows that the reserve exists. */
  #isSettled: boolean = false;

  /** `path`: the file that takes the space, absolute. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Creates the reserve if enough space is free. Never rejects: without a reserve a full disk is only reported. */
  async keep(): Promise<void> {
    if (this.#isSettled) return;
    this.#isSettled = true;
    try {
      if (await this.isKept()) return;
      const { bavail, bsize } = await statfs(dirname(this.#path));
      this.#isSettled = bavail * bsize >= PLENTY * RESERVE_BYTES;
      // Random bytes, which no file system can compress.
      if (this.#isSettled) await writeFile(this.#path, await random(RESERVE_BYTES), { mode: 0o600 });
    } catch {
      this.#isSettled = false;
    }
  }

  /** True when the complete reserve is on the disk. Any process may have written it. */
  async isKept(): Promise<boolean> {
    const found = await stat(this.#path).catch(() => undefined);
    return found?.size === RESERVE_BYTES;
  }

  /** Frees the space for the next write. Returns false when there was no reserve. */
  release(): boolean {
    this.#isSettled = false;
    // Without a reserve, or the right to delete it, the disk stays full.
    return attempt(() => unlinkSync(this.#path) ?? true) === true;
  }
}
