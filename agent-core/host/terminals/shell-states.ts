/** What commands of this machine leave of their shell, in a private folder that goes with the session. */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MARKER_VARIABLE } from "../children/process-tree.ts";
import type { CommandVariables } from "./command-variables.ts";
import { SAVE_TO, START_FROM, shellPreamble, USER_BASH_ENV } from "./preamble.ts";
import type { ShellState } from "./terminals.ts";

export type KeptShell = {
  /** File that the shell has to read first. */
  readonly preamble: string;
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

  /** Makes a command start from `shell`, and its shell be written down at its end when `keeps`. */
  async keep(shell: ShellState, keeps: boolean): Promise<KeptShell> {
    this.#folder ??= createFolder(this.#variables.withheld);
    const folder = await this.#folder;
    this.#count += 1;
    const to = join(folder, String(this.#count));
    const userFile = process.env["BASH_ENV"];
    return {
      preamble: join(folder, "preamble"),
      env: {
        ...this.#variables.passed,
        // The logical path, with its symbolic links: the shell takes it when it names the same folder.
        PWD: shell.folder,
        SHLVL: nestedLevel(process.env["SHLVL"]),
        ...(keeps && { [SAVE_TO]: to }),
        ...(shell.variables !== undefined && { [START_FROM]: shell.variables }),
        ...(userFile !== undefined && userFile !== "" && { [USER_BASH_ENV]: userFile }),
      },
      after: () => (keeps ? readState(to, shell) : Promise.resolve(undefined)),
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
  await writeFile(join(folder, "preamble"), preamble, { mode: 0o600 });
  return folder;
}

async function readState(to: string, before: ShellState): Promise<ShellState | undefined> {
  const folderFile = `${to}.folder`;
  if (!existsSync(folderFile)) return undefined;
  const [folder, first, last] = await Promise.all([
    readFile(folderFile, "utf8"),
    readFile(`${to}.before`),
    readFile(`${to}.variables`),
  ]);
  const changed = withoutPlace(first) !== withoutPlace(last);
  await Promise.all([folderFile, `${to}.before`, ...(changed ? [] : [`${to}.variables`])].map((path) => rm(path)));
  return { folder: folder.replace(/\n$/, ""), variables: changed ? `${to}.variables` : before.variables };
}

/** A folder that was changed shows in variables of its own, which say nothing more. */
function withoutPlace(variables: Buffer): string {
  return variables.toString("latin1").replace(/^(?:declare -x|export) (?:PWD|OLDPWD|_)(?:=.*)?\n/gm, "");
}
