/** The file operations of a journal: a small port, so that a test can make any of them fail. */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";

/** Each function throws, or rejects with, the system's error. Offsets and lengths are bytes. */
export type JournalFiles = {
  /** Creates the folder of `path` (absolute), readable by the user alone. */
  makeFolder(path: string): void;
  /** Opens `path` (absolute) for reading and writing; creates it, readable by the user alone. */
  open(path: string): number;
  size(descriptor: number): number;
  /** Identity of the file at `path` (absolute): equal only for the same file. Undefined when there is none. */
  identityAt(path: string): string | undefined;
  identityOf(descriptor: number): string;
  /** Returns the count of bytes read; 0 at the end. */
  read(descriptor: number, bytes: Buffer, position: number): number;
  /** Returns the count of bytes written, which may be less than requested. */
  write(descriptor: number, bytes: Buffer, position: number): number;
  truncate(descriptor: number, length: number): void;
  /** Settles when written bytes survive a power cut. */
  sync(descriptor: number): Promise<void>;
  close(descriptor: number): void;
};

const { O_CREAT, O_RDWR } = constants;

export const systemFiles: JournalFiles = {
  makeFolder: (path) => void mkdirSync(dirname(path), { recursive: true, mode: 0o700 }),
  open: (path) => openSync(path, O_RDWR | O_CREAT, 0o600),
  size: (descriptor) => fstatSync(descriptor).size,
  identityAt(path) {
    const found = statSync(path, { throwIfNoEntry: false });
    return found && identity(found);
  },
  identityOf: (descriptor) => identity(fstatSync(descriptor)),
  read: (descriptor, bytes, position) => readSync(descriptor, bytes, 0, bytes.length, position),
  write: (descriptor, bytes, position) => writeSync(descriptor, bytes, 0, bytes.length, position),
  truncate: ftruncateSync,
  sync: promisify(fdatasync),
  close: closeSync,
};

function identity({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
