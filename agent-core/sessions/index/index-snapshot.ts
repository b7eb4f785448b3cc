/**
 * The snapshot of the index on disk: a database, then a hash of each of its blocks. A block is read and verified on
 * first use. So opening takes constant time, and damaged data never reaches an answer.
 */
import { hash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** Several SQLite pages: small next to the data of one question, large next to the cost of a read. */
const BLOCK_BYTES = 32_768;
/** Detects damage, not attacks. SHA-1 was the fastest hash in Node. */
const HASH = "sha1";
const HASH_BYTES = 20;
/** Bytes of the database's length. The last hash covers all other hashes and this length. */
const LENGTH_BYTES = 8;
const FOOTER_BYTES = LENGTH_BYTES + HASH_BYTES;
/** WASI's number for an I/O error, and the name by which SQLite's file system recognises its own errors. */
const EIO = 29;
const FILE_SYSTEM_ERROR = "ErrnoError";

/** Bytes after the database in its snapshot. */
export function trailerOf(database: Uint8Array): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeBigUInt64LE(BigInt(database.length));
  const starts = Array.from({ length: blocksIn(database.length) }, (_, block) => block * BLOCK_BYTES);
  const hashes = starts.map((start) => hashOf(database.subarray(start, start + BLOCK_BYTES)));
  const table = Buffer.concat([...hashes, length]);
  return Buffer.concat([table, hashOf(table)]);
}

/** Undefined when the file at `path` is not a whole snapshot. Throws the system's error. */
export function openSnapshot(path: string): Snapshot | undefined {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const found = size > FOOTER_BYTES ? tableOf(file, size) : undefined;
    if (found !== undefined) return new Snapshot(file, found);
  } catch (error) {
    closeSync(file);
    throw error;
  }
  closeSync(file);
  return undefined;
}

type Table = { readonly length: number; readonly hashes: Buffer };

function tableOf(file: number, size: number): Table | undefined {
  const footer = readAt(file, size - FOOTER_BYTES, FOOTER_BYTES);
  const length = Number(footer.readBigUInt64LE(0));
  const bytes = blocksIn(length) * HASH_BYTES;
  if (length === 0 || length + bytes + FOOTER_BYTES !== size) return undefined;
  const table = readAt(file, length, bytes + LENGTH_BYTES);
  return hashOf(table).equals(footer.subarray(LENGTH_BYTES)) ? { length, hashes: table } : undefined;
}

/** The bytes of the database. SQLite uses them as its file. */
export class Snapshot extends Uint8Array {
  /** Undefined when everything is read. */
  #file: number | undefined;
  readonly #hashes: Buffer;
  readonly #isRead: boolean[];
  #unread: number;
  /** All blocks before this one are read. */
  #next = 0;

  constructor(file: number, { length, hashes }: Table) {
    super(length);
    this.#file = file;
    this.#hashes = hashes;
    this.#unread = blocksIn(length);
    this.#isRead = Array.from({ length: this.#unread }, () => false);
  }

  /** A slice of it is a plain array. */
  static get [Symbol.species](): Uint8ArrayConstructor {
    return Uint8Array;
  }

  override subarray(start = 0, end = this.length): Uint8Array<ArrayBuffer> {
    this.#read(start, end);
    return super.subarray(start, end);
  }

  override set(bytes: ArrayLike<number>, start = 0): void {
    this.#read(start, start + bytes.length); // otherwise a later read would overwrite these bytes
    super.set(bytes, start);
  }

  /** SQLite's file system copies its file with slice(); returning this saves seventy megabytes. */
  override slice(): this {
    return this;
  }

  /** Reads up to `count` unread blocks. Returns true when none remain. Throws on damage. */
  readOn(count: number): boolean {
    for (let left = count; left > 0 && this.#unread > 0; this.#next += 1) {
      if (this.#isRead[this.#next]) continue;
      this.#readBlock(this.#next);
      left -= 1;
    }
    return this.#unread === 0;
  }

  /** Unread blocks become unreadable. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #read(start: number, end: number): void {
    if (this.#unread === 0) return;
    const last = Math.min(Math.ceil(end / BLOCK_BYTES), this.#isRead.length);
    for (let block = Math.floor(start / BLOCK_BYTES); block < last; block += 1) {
      if (!this.#isRead[block]) this.#readBlock(block);
    }
  }

  #readBlock(block: number): void {
    const start = block * BLOCK_BYTES;
    const bytes = super.subarray(start, start + BLOCK_BYTES);
    const at = block * HASH_BYTES;
    const isWhole = this.#file !== undefined && readSync(this.#file, bytes, 0, bytes.length, start) === bytes.length;
    if (!isWhole || !hashOf(bytes).equals(this.#hashes.subarray(at, at + HASH_BYTES))) throw new SnapshotDamage();
    this.#isRead[block] = true;
    this.#unread -= 1;
    if (this.#unread === 0) this.close();
  }
}

/** SQLite turns this error into an I/O error. */
class SnapshotDamage extends Error {
  override readonly name = FILE_SYSTEM_ERROR;
  readonly errno = EIO;

  constructor() {
    super("The snapshot is malformed.");
  }
}

function readAt(file: number, start: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  readSync(file, bytes, 0, length, start);
  return bytes;
}

function blocksIn(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES);
}

function hashOf(bytes: Uint8Array): Buffer {
  return hash(HASH, bytes, "buffer");
}
