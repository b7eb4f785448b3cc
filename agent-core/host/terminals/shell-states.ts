/** Shell state between the commands of this machine, in a private folder of the session. */
import { constants } from "node:fs";
import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MARKER_VARIABLE } from "../../platform/children/process-tree.ts";
import type { CommandVariables } from "./backend.ts";
import { SAVE_TO, START_FROM, shellPreamble, USER_BASH_ENV } from "./preamble.ts";
import type { ShellState } from "./terminals.ts";

/** Subfolder that commands in the sandbox may write to. */
const CONFINED = "confined";
/** Limits of a folder's path and of a file of variables. Bytes. */
const MAX_PATH = 4096;
const MAX_STATE = 4_194_304;

export type KeptShell = {
  /** File that the shell reads first. */
  readonly preamble: string;
  /** Files that the shell reads, and the folders that it writes to. */
  readonly files: { readonly read: readonly string[]; readonly written: readonly string[] };
  /** Variables for the command's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Stores a command that is too long for an argument until its end. Resolves to the file that the shell reads. */
  storeCommand(command: string): Promise<string>;
  /** State at the command's end; undefined when a signal killed the shell or another program replaced it. */
  after(): Promise<ShellState | undefined>;
};

export class ShellStates {
  readonly #variables: CommandVariables;
  #folder: Promise<string> | undefined;
  #count = 0;

  constructor(variables: CommandVariables) {
    this.#variables = variables;
  }

  /**
   * Makes a command start from `shell`, and store its state at its end when `keeps`. A sandboxed command may have forged
   * the state of a `confined` one, so only confined commands start from that.
   */
  async keep(
    shell: ShellState,
    { keeps, confined }: { readonly keeps: boolean; readonly confined: boolean },
  ): Promise<KeptShell> {
    this.#folder ??= createFolder(this.#variables.withheld);
    const folder = await this.#folder;
    this.#count += 1;
    const written = confined ? join(folder, CONFINED) : folder;
    const to = join(written, String(this.#count));
    const from = confined ? (shell.confined ?? shell.variables) : shell.variables;
    const preamble = join(folder, "preamble");
    const userFile = process.env["BASH_ENV"];
    const commandFile = join(folder, `${this.#count}.command`);
    return {
      preamble,
      files: { read: [preamble, ...(from === undefined || from === shell.confined ? [] : [from])], written: [written] },
      env: {
        ...this.#variables.passed,
        // The logical path with its symbolic links; the shell accepts it for the same folder.
        PWD: shell.folder,
        SHLVL: nestedLevel(process.env["SHLVL"]),
        ...(keeps && { [SAVE_TO]: to }),
        ...(from !== undefined && { [START_FROM]: from }),
        ...(userFile !== undefined && userFile !== "" && { [USER_BASH_ENV]: userFile }),
      },
      async storeCommand(command) {
        await writeFile(commandFile, command, { mode: 0o600 });
        return commandFile;
      },
      after: async () => {
        await rm(commandFile, { force: true });
        const left = keeps ? await readState(to) : undefined;
        if (left === undefined) return undefined;
        const { folder: last, changed } = left;
        if (confined) return { ...shell, folder: last, confined: changed ? `${to}.variables` : shell.confined };
        // A change outside the sandbox applies to the sandbox too.
        return { ...shell, folder: last, ...(changed && { variables: `${to}.variables`, confined: undefined }) };
      },
    };
  }

  /** Removes all stored state. */
  async dispose(): Promise<void> {
    const folder = await this.#folder;
    this.#folder = undefined;
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/**
 * A first-level bash with a socket as its input assumes a remote login: it reads the user's .bashrc instead of BASH_ENV.
 * Our children have sockets, so their level is at least 1.
 */
export function nestedLevel(level: string | undefined): string {
  return String(Math.max(1, Number.parseInt(level ?? "", 10) || 0));
}

/** Folder of mode 0700, in the runtime folder of the login where the system has one. */
async function createFolder(withheld: readonly string[]): Promise<string> {
  const runtime = process.env["XDG_RUNTIME_DIR"];
  const inRuntime = runtime ? await mkdtemp(join(runtime, "hermes-shell-")).catch(() => undefined) : undefined;
  const folder = inRuntime ?? (await mkdtemp(join(tmpdir(), "hermes-shell-")));
  const preamble = shellPreamble(MARKER_VARIABLE, { withheld, passed: {} });
  await mkdir(join(folder, CONFINED), { mode: 0o700 });
  await writeFile(join(folder, "preamble"), preamble, { mode: 0o600 });
  return folder;
}

async function readState(to: string): Promise<{ readonly folder: string; readonly changed: boolean } | undefined> {
  const [folder, first, last] = await Promise.all(
    ["folder", "before", "variables"].map((part) => readPlainFile(`${to}.${part}`)),
  );
  if (folder === undefined || first === undefined || last === undefined) return undefined;
  const changed = withoutFolder(first) !== withoutFolder(last);
  const done = [`${to}.folder`, `${to}.before`, ...(changed ? [] : [`${to}.variables`])];
  await Promise.all(done.map((path) => rm(path, { force: true })));
  const path = folder.toString("utf8").replace(/\n$/, "");
  return path.startsWith("/") && path.length <= MAX_PATH ? { folder: path, changed } : undefined;
}

/** A sandboxed command may have replaced the file by a link to a file of keys, or by a pipe that never ends. */
async function readPlainFile(path: string): Promise<Buffer | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const stat = await file.stat();
    return stat.isFile() && stat.size <= MAX_STATE ? await file.readFile() : undefined;
  } finally {
    await file.close();
  }
}

/** Variables of the folder change with it, which is not a change of the user's variables. */
function withoutFolder(variables: Buffer): string {
  return variables.toString("latin1").replace(/^(?:declare -x|export) (?:PWD|OLDPWD|_)(?:=.*)?\n/gm, "");
}
