/**
 * Runs the merged chunk with the code that V8 compiled in an earlier process. Node's compile cache holds what V8 compiles before
 * a module runs: a start and its first turn compile a thousand functions more, which takes 18 ms of processor time.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import * as module from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import * as zlib from "node:zlib";

/** Names that the merged chunk uses: see `BANNER` in scripts/merge-chunks.ts. */
type Given = {
  readonly require: (id: string) => unknown;
  readonly $chunk: (id: string) => Promise<unknown>;
  readonly location: string;
  readonly __KEEP_COMPILED_CODE__: () => void;
  readonly provide: (exports: readonly unknown[]) => void;
};

/** Bytes of the checksum before the code: V8 runs damaged code without a check. */
const CHECKSUM = 4;

/**
 * Gives the exports of the chunk. `url`: its file, in ASCII. `hash`: of its text. `modules`: the chunks that it imports.
 * `$chunk`: `import`, from the folder of the chunks.
 */
export function runCompiled(
  { url, hash }: { readonly url: string; readonly hash: string },
  modules: Readonly<Record<string, unknown>>,
  $chunk: Given["$chunk"],
): readonly unknown[] {
  const source = readFileSync(fileURLToPath(url), "latin1");
  const folder = module.getCompileCacheDir?.(); // none on Node 22.0, or where the user switched it off
  const file = folder === undefined ? undefined : join(folder, `hermes-${hash}`);
  const cachedData = file === undefined ? undefined : storedCode(file);
  const script = new Script(source, { filename: url, cachedData });
  let isStored = script.cachedDataRejected === false;
  let exports: readonly unknown[] = [];
  const core: (given: Given) => void = script.runInThisContext();
  core({
    require: (id) => modules[id] ?? process.getBuiltinModule(id),
    $chunk,
    location: url,
    __KEEP_COMPILED_CODE__() {
      if (isStored || file === undefined) return;
      isStored = true;
      store(file, script.createCachedData());
    },
    provide(values) {
      exports = values;
    },
  });
  return exports;
}

function storedCode(file: string): Buffer | undefined {
  try {
    const stored = readFileSync(file);
    const code = stored.subarray(CHECKSUM);
    return stored.readUInt32LE(0) === zlib.crc32(code) ? code : undefined;
  } catch {
    return undefined; // the first start, or a damaged file
  }
}

/** A failure leaves the next process without the file. */
function store(file: string, code: Buffer): void {
  try {
    const checksum = Buffer.alloc(CHECKSUM);
    checksum.writeUInt32LE(zlib.crc32(code));
    const part = `${file}.${process.pid}`;
    writeFileSync(part, Buffer.concat([checksum, code]), { mode: 0o600 });
    renameSync(part, file);
  } catch {
    // a full or read-only disk
  }
}
