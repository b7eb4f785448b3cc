/** Writing a file of the home as a whole. */
import { randomUUID } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";

/**
 * Writes beside it and renames, so that nobody ever reads half of it. Only its owner may read it; its folder must
 * exist. Rejects when it cannot be written, and leaves nothing behind then.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text, { mode: 0o600 });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
