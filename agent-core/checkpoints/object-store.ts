/**
 * Store of earlier file contents by their SHA-256, each stored once. The sessions of all processes share the store of the home.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from "node:zlib";
import { attempt } from "../platform/errors.ts";
import { makeFolder } from "../platform/make-folder.ts";

/** First byte of an object: encoding of the rest. */
const PLAIN = 0;
const DEFLATED = 1;
/** A smaller content takes one block of the disk in any case, and its compression most of the time. Bytes. */
const MIN_DEFLATED_BYTES = 4_096;
/** For smaller contents another thread costs more time than the compression. Bytes. */
const MIN_THREAD_BYTES = 65_536;
/** Interval in which the use of an object is recorded. */
const TOUCH_AFTER_MS = 3_600_000;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

export class ObjectStore {
  readonly folder: string;

  /** `folder` is absolute; the first object creates it. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** Stores a content and gives its hash. Rejects with the system's error. */
  async put(content: Buffer): Promise<string> {
    const hash = hashOf(content);
    const path = this.pathOf(hash);
    if (isStored(path)) return hash;
    const neighbour = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
    makeFolder(dirname(path), 0o700);
    const bytes = await packed(content);
    try {
      if (bytes.length < MIN_THREAD_BYTES) writeFileSync(neighbour, bytes, { mode: 0o600, flag: "wx" });
      else await writeFile(neighbour, bytes, { mode: 0o600, flag: "wx" });
      renameSync(neighbour, path);
    } catch (error) {
      rmSync(neighbour, { force: true });
      throw error;
    }
    return hash;
  }

  /** Content by its hash; undefined for a missing or damaged object. */
  async get(hash: string): Promise<Buffer | undefined> {
    try {
      const content = await unpacked(await readFile(this.pathOf(hash)));
      return hashOf(content) === hash ? content : undefined;
    } catch {
      return undefined; // the object is missing or damaged
    }
  }

  /** Content as text, read synchronously; undefined for a missing or damaged object. */
  textOf(hash: string): string | undefined {
    // The object may be missing or damaged.
    const stored = attempt(() => readFileSync(this.pathOf(hash)));
    const content =
      stored && attempt(() => (stored[0] === DEFLATED ? inflateRawSync(stored.subarray(1)) : stored.subarray(1)));
    return content && hashOf(content) === hash ? content.toString("utf8") : undefined;
  }

  async has(hash: string): Promise<boolean> {
    return stat(this.pathOf(hash)).then(
      () => true,
      () => false,
    );
  }

  pathOf(hash: string): string {
    return join(this.folder, hash.slice(0, 2), hash.slice(2));
  }
}

export function hashOf(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}

function isStored(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && Date.now() - found.mtimeMs > TOUCH_AFTER_MS) utimesSync(path, new Date(), new Date());
    return found !== undefined;
  } catch {
    return false; // the garbage collection removes it now
  }
}

async function packed(content: Buffer): Promise<Buffer> {
  if (content.length >= MIN_DEFLATED_BYTES) {
    const isSmall = content.length < MIN_THREAD_BYTES;
    const deflated = isSmall ? deflateRawSync(content, { level: 1 }) : await deflate(content, { level: 1 });
    if (deflated.length < content.length * 0.9) return Buffer.concat([Buffer.of(DEFLATED), deflated]);
  }
  return Buffer.concat([Buffer.of(PLAIN), content]);
}

function unpacked(stored: Buffer): Promise<Buffer> | Buffer {
  const rest = stored.subarray(1);
  if (stored[0] !== DEFLATED) return rest;
  return rest.length < MIN_THREAD_BYTES / 4 ? inflateRawSync(rest) : inflate(rest);
}
