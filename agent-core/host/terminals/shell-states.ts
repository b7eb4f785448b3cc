/** What commands of this machine leave of their shell, in a private folder that goes with the session. */
import { constants } from "node:fs";
import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MARKER_VARIABLE } from "../../platform/children/process-tree.ts";
import type { CommandVariables } from "./command-variables.ts";
import { SAVE_TO, START_FROM, shellPreamble, USER_BASH_ENV } from "./preamble.ts";
import type { ShellState } from "./terminals.ts";

/** Folder, below that of the session, that commands in the sandbox may write to. */
const CONFINED = "confined";
/** Longest path of a folder, and largest file of variables, that is taken over. Bytes. */
const MAX_PATH = 4096;
const MAX_STATE = 4_194_304;

export type KeptShell = {
  /** File that the shell has to read first. */
  readonly preamble: string;
  /** What it reads, and the folder that it writes down what it leaves in. */
  readonly files: { readonly read: readonly string[]; readonly written: readonly string[] };
  /** For the command's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The shell as the command left it; undefined when it was killed or replaced itself by another program. */
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
   * Makes a command start from `shell`, and its shell be written down at its end when `keeps`. What a `confined` one
   * writes, a command in the sandbox may have written: only such commands take it over.
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
    return {
      preamble,
      files: { read: [preamble, ...(from === undefined || from === shell.confined ? [] : [from])], written: [written] },
      env: {
        ...this.#variables.passed,
        // The logical path, with its symbolic links: the shell takes it when it names the same folder.
        PWD: shell.folder,
        SHLVL: nestedLevel(process.env["SHLVL"]),
        ...(keeps && { [SAVE_TO]: to }),
        ...(from !== undefined && { [START_FROM]: from }),
        ...(userFile !== undefined && userFile !== "" && { [USER_BASH_ENV]: userFile }),
      },
      after: async () => {
        const left = keeps ? await readState(to) : undefined;
        if (left === undefined) return undefined;
        const { folder: last, changed } = left;
        if (confined) return { ...shell, folder: last, confined: changed ? `${to}.variables` : shell.confined };
        // Whoever changes the variables outside changes them for the sandbox, too.
        return { ...shell, folder: last, ...(changed && { variables: `${to}.variables`, confined: undefined }) };
      },
    };
  }

  /** Removes everything that was kept. */
  async dispose(): Promise<void> {
    const folder = await this.#folder;
    this.#folder = undefined;
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/**
 * A first-level bash whose input is a socket, as a child's of ours is, takes itself for one that a remote login started:
 * it reads the user's .bashrc instead of BASH_ENV.
 */
export function nestedLevel(level: string | undefined): string {
  return String(Math.max(1, Number.parseInt(level ?? "", 10) || 0));
}

/** Of mode 0700; where the system has one, in the user's folder that does not outlive the login. */
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
  const changed = withoutPlace(first) !== withoutPlace(last);
  const done = [`${to}.folder`, `${to}.before`, ...(changed ? [] : [`${to}.variables`])];
  await Promise.all(done.map((path) => rm(path, { force: true })));
  const path = folder.toString("utf8").replace(/\n$/, "");
  return path.startsWith("/") && path.length <= MAX_PATH ? { folder: path, changed } : undefined;
}

/** A command in the sandbox may have put anything in a file's place: a link to one with keys, a pipe without an end. */
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

/** A folder that was changed shows in variables of its own, which say nothing more. */
function withoutPlace(variables: Buffer): string {
  return variables.toString("latin1").replace(/^(?:declare -x|export) (?:PWD|OLDPWD|_)(?:=.*)?\n/gm, "");
}
