/**
 * What an SQLite database in WAL mode holds beside its file: pages that were committed to `-wal` and not yet copied back.
 * The format is SQLite's (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
 */

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SMALLEST_PAGE_BYTES = 512;
/** Checksums read words in the machine's byte order that wrote them; the lowest bit of the magic says which. */
const MAGIC_LITTLE = 0x377f0682;
const MAGIC_BIG = 0x377f0683;
/** Of the database's header: how it is to be written and read; 1 is without such a log. */
const VERSION_BYTES = [18, 19] as const;

type Sums = readonly [number, number];

/**
 * The database as it is with the log's committed pages; a frame that is torn, or of an earlier round, ends the log.
 * The result opens without its log. Undefined when `log` is no such log.
 */
export function withLog(database: Uint8Array, log: Uint8Array): Uint8Array | undefined {
  if (log.length === 0) return withoutLog(database);
  if (log.length < HEADER_BYTES) return undefined;
  const view = new DataView(log.buffer, log.byteOffset, log.byteLength);
  const magic = view.getUint32(0);
  if (magic !== MAGIC_LITTLE && magic !== MAGIC_BIG) return undefined;
  const committed = committedPages(log, view, magic === MAGIC_LITTLE);
  return withoutLog(committed === undefined ? database : patched(database, committed.pages, committed.size));
}

/** Undefined when nothing in the log is committed. `size`: of the database, in bytes. */
function committedPages(
  log: Uint8Array,
  view: DataView,
  isLittle: boolean,
): { readonly pages: readonly Page[]; readonly size: number } | undefined {
  const pageBytes = view.getUint32(8);
  if (pageBytes < SMALLEST_PAGE_BYTES || pageBytes % SMALLEST_PAGE_BYTES !== 0) return undefined;
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  let sums = checksum(view, 0, 24, { isLittle, sums: [0, 0] });
  if (!isAt(view, 24, sums)) return undefined;
  const salts = [view.getUint32(16), view.getUint32(20)] as const;
  const frames: Page[] = [];
  let committed = { frames: 0, size: 0 };
  for (let at = HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    if (!isAt(view, at + 8, salts)) break;
    sums = checksum(view, at, 8, { isLittle, sums });
    sums = checksum(view, at + FRAME_HEADER_BYTES, pageBytes, { isLittle, sums });
    if (!isAt(view, at + 16, sums)) break;
    const bytes = log.subarray(at + FRAME_HEADER_BYTES, at + frameBytes);
    frames.push({ start: (view.getUint32(at) - 1) * pageBytes, bytes });
    // The last frame of a commit says how many pages the database has by then.
    const pages = view.getUint32(at + 4);
    if (pages > 0) committed = { frames: frames.length, size: pages * pageBytes };
  }
  if (committed.frames === 0) return undefined;
  return { pages: frames.slice(0, committed.frames), size: committed.size };
}

function isAt(view: DataView, at: number, [first, second]: Sums): boolean {
  return view.getUint32(at) === first && view.getUint32(at + 4) === second;
}

type Page = { readonly start: number; readonly bytes: Uint8Array };

function patched(database: Uint8Array, pages: readonly Page[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  whole.set(database.subarray(0, size));
  for (const { start, bytes } of pages) if (start < size) whole.set(bytes, start);
  return whole;
}

/** The same database for readers without shared memory. */
function withoutLog(database: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(database);
  for (const at of VERSION_BYTES) if (bytes[at] === 2) bytes[at] = 1;
  return bytes;
}

function checksum(
  view: DataView,
  start: number,
  length: number,
  { isLittle, sums: [first, second] }: { readonly isLittle: boolean; readonly sums: Sums },
): Sums {
  let [one, other] = [first, second];
  for (let at = start; at < start + length; at += 8) {
    one = (one + view.getUint32(at, isLittle) + other) >>> 0;
    other = (other + view.getUint32(at + 4, isLittle) + one) >>> 0;
  }
  return [one, other];
}
