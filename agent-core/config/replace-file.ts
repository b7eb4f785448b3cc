/** Writing a file of the home as a whole. */
import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";

/**
 * Writes beside it and renames, so that nobody ever reads half of it and a power cut leaves the old text or the new.
 * Only its owner may read it; its folder must exist. Rejects when it cannot be written, and leaves nothing behind then.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
