/** Space that is kept back on the disk, so that what is said can still be saved when the disk is full. */
import { randomBytes } from "node:crypto";
import { unlinkSync } from "node:fs";
import { stat, statfs, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";

/** For tens of turns with their outputs and diffs. Bytes. */
const RESERVE_BYTES = 1_024 * 1_024;
/** It is only made where this many times as much is free. */
const PLENTY = 16;

const random = promisify(randomBytes);

export class SpaceReserve {
  readonly #path: string;
  /** As far as this process knows. */
  #isSettled = false as boolean;

  /** `path`: of the file that takes the space; absolute. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Sees to it that the space is kept, unless there is little left. Never rejects: without it a full disk is only told. */
  async keep(): Promise<void> {
    if (this.#isSettled) return;
    this.#isSettled = true;
    try {
      if (await this.isKept()) return;
      const { bavail, bsize } = await statfs(dirname(this.#path));
      this.#isSettled = bavail * bsize >= PLENTY * RESERVE_BYTES;
      // Of noise, which no file system makes smaller.
      if (this.#isSettled) await writeFile(this.#path, await random(RESERVE_BYTES), { mode: 0o600 });
    } catch {
      this.#isSettled = false;
    }
  }

  /** Whether the whole of it is on the disk, whoever put it there. */
  async isKept(): Promise<boolean> {
    const found = await stat(this.#path).catch(() => undefined);
    return found?.size === RESERVE_BYTES;
  }

  /** Gives the space to who writes next. False when none was kept. */
  release(): boolean {
    this.#isSettled = false;
    try {
      unlinkSync(this.#path);
      return true;
    } catch {
      return false; // not there, or not to be had: the disk is as full as before
    }
  }
}
