/** Files beside a session's journal: results too long for a message. Always on the agent's own machine. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes `text` to `path` (absolute), making its folder. Rejects with the system's error when it cannot. */
export async function writeSpillFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, text, { mode: 0o600 });
}
