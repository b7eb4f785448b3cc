/** Files that pages download: kept in the session's folder under a safe name, and reported with path and size. */
import { constants, readdirSync, statSync } from "node:fs";
import { copyFile, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Download } from "playwright-core";
import { hasCode, messageOf } from "../platform/errors.ts";
import { makeFolder } from "../platform/make-folder.ts";

/** Larger downloads are cancelled. Bytes. */
const MAX_BYTES = 500_000_000;
/** Downloads at the same time; further ones are cancelled. */
const MAX_RUNNING = 5;
/** Time that a result waits for running downloads. Milliseconds. */
const WAIT_MS = 5_000;
const POLL_MS = 20;
const NAME_CHARS = 100;

export class Downloads {
  /** Folder of files that are not complete. */
  readonly #partial: string;
  readonly #folder: string;
  readonly #note: (text: string) => void;
  readonly #running = new Map<Download, string>();

  /** `partial` and `folder`: absolute; `folder` is made with the first file. */
  constructor(partial: string, folder: string, note: (text: string) => void) {
    this.#partial = partial;
    this.#folder = folder;
    this.#note = note;
  }

  async keep(download: Download): Promise<void> {
    const name = safeName(download.suggestedFilename());
    this.#running.set(download, name);
    if (this.#running.size > MAX_RUNNING) await this.#cancel(download, `more than ${MAX_RUNNING} downloads run`);
    const failure = await download.failure();
    // A cancelled one has its note already.
    if (!this.#running.has(download)) return;
    if (failure === null) await this.#store(download, name);
    else this.#note(`The download of ${name} failed: ${failure === "canceled" ? "it was cancelled" : failure}.`);
    this.#running.delete(download);
  }

  /** Waits for running downloads, and notes those that need longer. */
  async settle(signal: AbortSignal): Promise<void> {
    const start = performance.now();
    while (this.#running.size > 0 && performance.now() - start < WAIT_MS) {
      await delay(POLL_MS, undefined, { signal });
      await this.#limit();
    }
    for (const name of this.#running.values()) this.#note(`The download of ${name} still runs.`);
  }

  /** Cancels what runs when a file is too large. */
  async #limit(): Promise<void> {
    const isTooLarge = readdirSync(this.#partial).some((file) => {
      const found = statSync(join(this.#partial, file), { throwIfNoEntry: false });
      return found !== undefined && found.size > MAX_BYTES;
    });
    if (!isTooLarge) return;
    const reason = `it is larger than ${MAX_BYTES / 1_000_000} MB`;
    for (const download of this.#running.keys()) await this.#cancel(download, reason);
  }

  async #cancel(download: Download, reason: string): Promise<void> {
    const name = this.#running.get(download);
    this.#running.delete(download);
    if (name !== undefined) this.#note(`The download of ${name} failed: ${reason}.`);
    await download.cancel().catch(() => undefined); // it has ended already
  }

  /** Copies a complete file into the session's folder. */
  async #store(download: Download, name: string): Promise<void> {
    try {
      makeFolder(this.#folder, 0o700);
      const path = await copyToFree(await download.path(), this.#folder, name);
      const { size } = await stat(path);
      this.#note(`Downloaded ${name} (${size} bytes) to ${path}`);
      await download.delete();
    } catch (error) {
      this.#note(`The download of ${name} could not be stored: ${messageOf(error)}`);
    }
  }
}

/** Name of a file without folders, control characters and a leading dot. */
function safeName(suggested: string): string {
  const name = basename(suggested.replaceAll("\\", "/"))
    .replaceAll(/[\p{Cc}\p{Cf}<>:"|?*/]/gu, "_")
    .replace(/^\.+/, "");
  const extension = extname(name).slice(0, NAME_CHARS / 4);
  return name === ""
    ? "download"
    : `${name.slice(0, name.length - extname(name).length).slice(0, NAME_CHARS)}${extension}`;
}

/** Copies to a name that is free, `report.pdf` or `report-2.pdf`: two downloads may end at the same time. Resolves to the path. */
async function copyToFree(source: string, folder: string, name: string): Promise<string> {
  const extension = extname(name);
  const stem = name.slice(0, name.length - extension.length);
  for (let count = 1; ; count += 1) {
    const path = join(folder, count === 1 ? name : `${stem}-${count}${extension}`);
    try {
      await copyFile(source, path, constants.COPYFILE_EXCL);
      return path;
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
  }
}
