/** Runs commands on this machine, with its shell, in the workspace's folders. */
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { findProgram } from "../../platform/find-program.ts";
import type { Askpass } from "./askpass.ts";
import { type Backend, type CommandVariables, OWN_VARIABLES, type Plan } from "./backend.ts";
import { commandEnvironment } from "./command-environment.ts";
import { quote } from "./preamble.ts";
import { ShellStates } from "./shell-states.ts";
import type { CommandRequest } from "./terminals.ts";

type Shell = { readonly kind: "bash" | "sh" | "powershell"; readonly path: string };

const BASHES = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
/** Longer commands are read from a file: Linux allows 131,072 bytes for an argument (MAX_ARG_STRLEN), with quotes. */
const MAX_ARGUMENT_BYTES = 60_000;
/** Kind of terminal for programs on a pseudo-terminal of ours. */
const PTY_TERM = "xterm-256color";

/** By default commands get all variables of this process. */
export function localBackend(variables: CommandVariables = OWN_VARIABLES): Backend {
  const local: LocalBackend = { states: new ShellStates(variables), variables, askpass: undefined };
  return {
    place: undefined,
    language: findShell().kind === "powershell" ? "powershell" : "sh",
    open: (cwd) => Promise.resolve(cwd),
    plan: (request, givesPty) => plan(local, request, givesPty),
    dispose: () => {
      local.askpass?.close();
      return local.states.dispose();
    },
  };
}

type LocalBackend = {
  readonly states: ShellStates;
  readonly variables: CommandVariables;
  /** Loaded with the first command that can ask. */
  askpass: Askpass | undefined;
};

async function plan(local: LocalBackend, request: CommandRequest, givesPty: boolean): Promise<Plan> {
  const { states, variables } = local;
  const { command, shell, keepsShell, input, pty, outputFile, onOutput, sandbox, askPassword, hasPasswords } = request;
  const found = await stat(shell.folder).catch(() => undefined);
  if (!found?.isDirectory()) throw new Error(`The folder ${shell.folder} does not exist.`);
  const program = findShell();
  const kept =
    program.kind === "powershell"
      ? undefined
      : await states.keep(shell, { keeps: keepsShell, confined: sandbox !== undefined });
  const isLong = Buffer.byteLength(command) > MAX_ARGUMENT_BYTES;
  const file = isLong ? await kept?.storeCommand(command) : undefined;
  const line =
    kept === undefined
      ? powershellLine(program, command, variables)
      : shellLine(program, file === undefined ? { command } : { file }, kept.preamble);
  const env = commandEnvironment(variables, sandbox);
  const isHelped = (hasPasswords || !givesPty) && sandbox === undefined && program.kind !== "powershell";
  const asking = isHelped && askPassword ? await (await askpassOf(local)).variables(askPassword, env) : {};
  const wrapped = pty && !givesPty ? onPty(line) : { ...line, env: {} };
  return {
    launch: {
      program: wrapped.program,
      args: wrapped.args,
      cwd: shell.folder,
      env: { ...env, ...asking, ...line.env, ...kept?.env, ...wrapped.env },
      hasWholeEnvironment: true,
      title: command,
      input: pty ? "open" : input,
      hasPty: pty,
      outputFile,
      onOutput,
    },
    ...(kept !== undefined && { shellFiles: { ...kept.files, read: [...kept.files.read, ...(file ? [file] : [])] } }),
    shellAfter: async () => kept?.after(),
    killElsewhere: undefined,
  };
}

async function askpassOf(local: LocalBackend): Promise<Askpass> {
  const { Askpass } = await import("./askpass.ts");
  local.askpass ??= new Askpass();
  return local.askpass;
}

type Line = {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

function shellLine(
  { kind, path }: Shell,
  text: { readonly command: string } | { readonly file: string },
  preamble: string,
): Line {
  if (kind === "bash") {
    return { program: path, args: "file" in text ? [text.file] : ["-c", text.command], env: { BASH_ENV: preamble } };
  }
  const [script, argument] = "file" in text ? ['. "$1"', text.file] : ['eval "$1"', text.command];
  return { program: path, args: ["-c", `. "$1"; shift; ${script}`, "sh", preamble, argument], env: {} };
}

function powershellLine({ path }: Shell, command: string, { withheld, passed }: CommandVariables): Line {
  const taken = withheld.map((name) => `Remove-Item -ErrorAction Ignore Env:${name}; `).join("");
  return { program: path, args: ["-NoProfile", "-NonInteractive", "-Command", `${taken}${command}`], env: passed };
}

/** The same on a pseudo-terminal of `script` from util-linux, which keeps the exit code. */
function onPty({ program, args }: Line): Line {
  const script = process.platform === "linux" ? findProgram("script") : undefined;
  if (script === undefined) {
    throw new Error(
      "A pseudo-terminal cannot be opened on this machine (it needs `script` of util-linux). Run the command without pty, or ask the user to run it.",
    );
  }
  const inner = ["exec", program, ...args].map((word, index) => (index === 0 ? word : quote(word))).join(" ");
  // `script` runs the line with $SHELL: a plain shell, which restores the user's own $SHELL.
  const line = `stty cols 80 rows 24; SHELL=${quote(process.env["SHELL"] ?? program)} ${inner}`;
  return {
    program: script,
    args: ["--quiet", "--return", "--flush", "--command", line, "/dev/null"],
    env: { TERM: PTY_TERM, SHELL: "/bin/sh" },
  };
}

/** bash, else sh; PowerShell on Windows. */
export function findShell(): Shell {
  if (process.platform === "win32") return { kind: "powershell", path: "powershell.exe" };
  const bash = BASHES.find((path) => existsSync(path));
  return bash === undefined ? { kind: "sh", path: "/bin/sh" } : { kind: "bash", path: bash };
}
