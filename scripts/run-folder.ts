// One temporary folder for a whole test run: TMPDIR of all its processes, removed however the run ends.
// As a program, `node run-folder.ts FOLDER` removes FOLDER when its standard input closes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** Names the folder for the run's own child processes, which must not make another. */
const FOLDER_VARIABLE = "HERMES_TEST_FOLDER";

/** Processes that outlive the run, like those of VS Code's server, write for a moment longer. */
const REMOVAL_ATTEMPTS = 100;
const RETRY_MS = 100;

/** True in a process of a run that has its folder. */
export function isInRun(): boolean {
  return process.env[FOLDER_VARIABLE] !== undefined;
}

/**
 * Creates the run's folder and points TMPDIR, TMP and TEMP to it, unless this process already belongs to a run.
 * Another process removes the folder, also after Ctrl+C or a kill. The result removes it and waits for that.
 */
export function useRunFolder(): () => Promise<void> {
  if (isInRun()) return () => Promise.resolve();
  // A short path: a Unix socket's address holds about 100 bytes.
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "hermes-"));
  // Some tests run programs as another user.
  chmodSync(folder, 0o711);
  for (const name of [FOLDER_VARIABLE, "TMPDIR", "TMP", "TEMP"]) process.env[name] = folder;
  const remover = spawn(process.execPath, [fileURLToPath(import.meta.url), folder], {
    // Detached, because Ctrl+C in a terminal reaches every process of the group.
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  remover.unref();
  const ended = once(remover, "exit");
  return async () => {
    remover.ref();
    remover.stdin.end();
    await ended;
  };
}

async function remove(folder: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (attempt === REMOVAL_ATTEMPTS) throw error;
      await delay(RETRY_MS);
    }
  }
}

const [folder] = process.argv.slice(2);
if (import.meta.main && folder !== undefined) {
  process.stdin
    .resume()
    .once("end", () => void remove(folder))
    .once("error", () => void remove(folder));
}
