/** Writes an exported session into a file of its own, never over one that is there. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { hasCode, messageOf } from "../platform/errors.ts";

export type Exported = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** `path` is absolute; its folders are made. */
export async function writeExport(path: string, text: string): Promise<Exported> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: "wx" });
    return { ok: true };
  } catch (error) {
    if (hasCode(error, "EEXIST")) {
      return { ok: false, message: `${path} is there already; give another path.` };
    }
    return { ok: false, message: messageOf(error) };
  }
}
