/** Folders of tasks: a home and a workspace each, below one folder a process, which the next process removes after a kill. */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { chmod, cp, lstat, mkdir, readdir, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../agent-core/platform/errors.ts";
import { acquireLock, lockHolder } from "../agent-core/platform/locks/file-lock.ts";
import { newId } from "../agent-core/platform/new-id.ts";
import { statOf } from "../agent-core/platform/paths.ts";
import type { Task } from "./task.ts";

const run = promisify(execFile);

/** Name of the lock in a process's folder. */
const LOCK = "lock";
const NAME = "hermes-tasks-";

export type TaskFolder = {
  /** Hermes home of the task alone. */
  readonly home: string;
  readonly workspace: string;
  /** For temporary files of its commands. */
  readonly temporary: string;
  /** Aborted with an Error when the disk is nearly full, and the task has written most. */
  readonly full: AbortSignal;
  remove(): Promise<void>;
};

/** Space that tasks leave free, in bytes; less on a small disk, and on one that is nearly full before. */
const RESERVE_BYTES = 1_000_000_000;
const RESERVE_SHARE = 0.05;
const LOOK_MS = 200;

export class TaskFolders {
  readonly #base: string;
  /** Folders of running tasks. */
  readonly #running = new Map<string, AbortController>();
  readonly #reserve: number;
  readonly #looking: NodeJS.Timeout;

  /** `parent`: default: the system's folder for temporary files. */
  constructor(parent: string = tmpdir()) {
    sweep(parent);
    // The lock is there before the name that a sweep looks for.
    const draft = mkdtempSync(join(parent, "hermes-new-tasks-"));
    acquireLock(join(draft, LOCK));
    this.#base = join(parent, NAME + newId());
    cpSync(draft, this.#base, { recursive: true });
    rmSync(draft, { recursive: true, force: true });
    const { bavail, blocks, bsize } = statfsSync(this.#base);
    this.#reserve = Math.min(RESERVE_BYTES, RESERVE_SHARE * blocks * bsize, (bavail * bsize) / 2);
    this.#looking = setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  /** Rejects with an Error in one line when the template cannot be copied. */
  async open({ settings, cwd, image }: Pick<Task, "settings" | "cwd" | "image">): Promise<TaskFolder> {
    const folder = join(this.#base, newId());
    const [home, workspace, temporary] = [join(folder, "home"), join(folder, "work"), join(folder, "tmp")];
    const full = new AbortController();
    const remove = async (): Promise<void> => {
      await removeWhole(folder);
      this.#running.delete(folder);
    };
    try {
      for (const path of [home, temporary]) await mkdir(path, { recursive: true, mode: 0o700 });
      this.#running.set(folder, full);
      const template = image === undefined ? (cwd ?? settings.template) : settings.template;
      if (template === undefined) await mkdir(workspace);
      else if (template.startsWith("git:")) await checkOut(template, workspace);
      else await copyFolder(template, workspace);
      return { home, workspace, temporary, full: full.signal, remove };
    } catch (error) {
      await remove();
      throw error;
    }
  }

  async dispose(): Promise<void> {
    clearInterval(this.#looking);
    await removeWhole(this.#base);
  }

  /** Ends the task that wrote most when the disk is nearly full; the next one only when its files are gone. */
  async #look(): Promise<void> {
    const running = [...this.#running];
    if (running.length === 0 || running.some(([, { signal }]) => signal.aborted)) return;
    const { bavail, bsize } = await statfs(this.#base);
    if (bavail * bsize >= this.#reserve) return;
    const sizes = await Promise.all(running.map(async ([folder, end]) => ({ end, bytes: await sizeOf(folder) })));
    const largest = sizes.reduce((most, each) => (each.bytes > most.bytes ? each : most));
    const megabytes = Math.round(largest.bytes / 1_000_000);
    largest.end.abort(new Error(`the task filled the disk: its folder had ${megabytes} MB`));
  }
}

/** Bytes of a folder on the disk. Files that vanish meanwhile do not count. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const sizes = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sizeOf(path);
    return lstat(path).then(
      ({ blocks }) => blocks * 512,
      () => 0,
    );
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Removes what processes left that have died. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const folder = join(parent, name);
    if (!name.startsWith(NAME) || statOf(join(folder, LOCK)) === undefined) continue;
    try {
      if (lockHolder(join(folder, LOCK)) === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // another user's folder, or another process removes it, too
    }
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  if (statOf(from)?.isDirectory() !== true) throw new Error(`There is no template folder ${from}.`);
  await cp(resolve(from), to, { recursive: true, verbatimSymlinks: true });
}

/** A clone that shares nothing with the user's repository: a kill leaves no work tree registered there. */
async function checkOut(template: string, to: string): Promise<void> {
  const { repository, reference } = gitTemplate(template);
  const git = (...args: string[]) => run("git", args, { env: { ...process.env, GIT_TERMINAL_PROMPT: "0" } });
  try {
    await git("clone", "--quiet", "--no-checkout", repository, to);
    const checkout = (name: string) => git("-C", to, "checkout", "--quiet", "--detach", name);
    await checkout(reference).catch(() => checkout(`origin/${reference}`));
  } catch (error) {
    throw new Error(`${template} could not be checked out: ${messageOf(error).split("\n").at(-2) ?? ""}`);
  }
}

/** `git:REPO@REF`; without a REF the repository's HEAD. */
function gitTemplate(template: string): { readonly repository: string; readonly reference: string } {
  const rest = template.slice("git:".length);
  const at = rest.lastIndexOf("@");
  const isReference = at > 0 && !rest.slice(at).includes(":");
  return isReference
    ? { repository: rest.slice(0, at), reference: rest.slice(at + 1) }
    : { repository: rest, reference: "HEAD" };
}

/** A task may leave folders that not even their owner may write. */
async function removeWhole(folder: string): Promise<void> {
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });
  await remove().catch(async () => {
    await unlock(folder);
    await remove();
  });
}

async function unlock(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await unlock(join(folder, entry.name));
  }
}
