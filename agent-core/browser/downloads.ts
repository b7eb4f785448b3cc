/** Files that pages download: kept in the session's folder under a safe name, and reported with path and size. */
import { constants, mkdirSync } from "node:fs";
import { copyFile, rm, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { hasCode, messageOf } from "../platform/errors.ts";
import { makeFolder } from "../platform/make-folder.ts";
import type { DevTools } from "./devtools.ts";

/** Larger downloads are cancelled. Bytes. */
const MAX_BYTES = 500_000_000;
/** Downloads at the same time; further ones are cancelled. */
const MAX_RUNNING = 5;
/** Time that a result waits for running downloads. Milliseconds. */
const WAIT_MS = 5_000;
const POLL_MS = 20;
const NAME_CHARS = 100;

type Download = { readonly name: string; isMoving: boolean };

export class Downloads {
  readonly #devtools: DevTools;
  /** Folder of the profile for files that are not complete. */
  readonly #partial: string;
  readonly #folder: string;
  readonly #note: (text: string) => void;
  readonly #running = new Map<string, Download>();

  /** `folder`: absolute; made with the first file. */
  constructor(
    devtools: DevTools,
    place: { readonly profile: string; readonly folder: string },
    note: (text: string) => void,
  ) {
    this.#devtools = devtools;
    this.#partial = join(place.profile, "downloads");
    this.#folder = place.folder;
    this.#note = note;
  }

  async begin(): Promise<void> {
    mkdirSync(this.#partial);
    this.#devtools.on("Browser.downloadWillBegin", ({ guid, suggestedFilename }) => {
      this.#running.set(guid, { name: safeName(suggestedFilename), isMoving: false });
      if (this.#running.size > MAX_RUNNING) this.#cancel(guid, `more than ${MAX_RUNNING} downloads run`);
    });
    this.#devtools.on("Browser.downloadProgress", ({ guid, state, receivedBytes, totalBytes }) => {
      if (state === "completed") void this.#keep(guid);
      else if (state === "canceled") this.#forget(guid, "it was cancelled");
      else if (Math.max(receivedBytes, totalBytes) > MAX_BYTES) {
        this.#cancel(guid, `it is larger than ${MAX_BYTES / 1_000_000} MB`);
      }
    });
    await this.#devtools.send("Browser.setDownloadBehavior", {
      behavior: "allowAndName",
      downloadPath: this.#partial,
      eventsEnabled: true,
    });
  }

  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  /** Waits for running downloads, and notes those that need longer. */
  async settle(signal: AbortSignal): Promise<void> {
    const start = performance.now();
    while (this.isRunning && performance.now() - start < WAIT_MS) await delay(POLL_MS, undefined, { signal });
    for (const { name } of this.#running.values()) this.#note(`The download of ${name} still runs.`);
  }

  #cancel(guid: string, reason: string): void {
    this.#forget(guid, reason);
    this.#devtools.send("Browser.cancelDownload", { guid }).catch(() => undefined); // it has ended already
  }

  #forget(guid: string, reason: string): void {
    const download = this.#running.get(guid);
    if (download === undefined || download.isMoving) return;
    this.#running.delete(guid);
    this.#note(`The download of ${download.name} failed: ${reason}.`);
  }

  /** Moves a complete file into the session's folder. */
  async #keep(guid: string): Promise<void> {
    const download = this.#running.get(guid);
    if (download === undefined || download.isMoving) return;
    download.isMoving = true;
    const { name } = download;
    const source = join(this.#partial, guid);
    try {
      makeFolder(this.#folder, 0o700);
      const path = await copyToFree(source, this.#folder, name);
      const { size } = await stat(path);
      this.#note(`Downloaded ${name} (${size} bytes) to ${path}`);
      await rm(source, { force: true });
    } catch (error) {
      this.#note(`The download of ${name} could not be stored: ${messageOf(error)}`);
    } finally {
      this.#running.delete(guid);
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
