/** What a journal does to files: one small port, so that a test can let any of it fail. */
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

/** Each throws (or rejects with) the system's error. Offsets and lengths are bytes. */
export type JournalFiles = {
  /** Makes the folder that `path` (absolute) lies in, for the user alone. */
  makeFolder(path: string): void;
  /** Opens `path` (absolute) for reading and writing, making it for the user alone. */
  open(path: string): number;
  size(descriptor: number): number;
  /** Tells the file at `path` (absolute) from every other; undefined: there is none. */
  identityAt(path: string): string | undefined;
  identityOf(descriptor: number): string;
  /** Gives how much was read; 0 at the end. */
  read(descriptor: number, bytes: Buffer, position: number): number;
  /** Gives how much was written, which may be less than asked for. */
  write(descriptor: number, bytes: Buffer, position: number): number;
  truncate(descriptor: number, length: number): void;
  /** Settles when what was written survives a power cut. */
  sync(descriptor: number): Promise<void>;
  close(descriptor: number): void;
};

const { O_CREAT, O_RDWR } = constants;

/** The system's own. */
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
