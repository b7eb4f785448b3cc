/** Keeps compiled code from start to start. Imports nothing but Node's own modules: it runs before all others. */
import { lstatSync, mkdirSync } from "node:fs";
// A namespace import: Node 22.0 lacks the functions.
import * as module from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Age at which a process stores its compiled code: a turn has used most of it. Milliseconds. */
const STORE_AFTER_MS = 15_000;

/** For the thread that calls it. Node stores the code at the end of a process, which an editor often kills. */
export function useCompileCache(): void {
  const folder = privateFolder();
  if (folder === undefined) return;
  module.enableCompileCache?.(folder);
  setTimeout(() => module.flushCompileCache?.(), STORE_AFTER_MS).unref();
}

/**
 * Node's own folder lies where another user may have made it first, and its code would run here. Undefined where this one
 * belongs to somebody else.
 */
function privateFolder(): string | undefined {
  const user = process.getuid?.(); // none on Windows, where each user has a folder of temporary files
  const folder = join(tmpdir(), `hermes-compiled-${user ?? ""}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    return user === undefined || (uid === user && (mode & 0o077) === 0) ? folder : undefined;
  } catch {
    return undefined; // a full or read-only disk
  }
}
