/** Commands of this machine: its own shell, in the workspace's own folders. */
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Backend, Plan } from "./backend.ts";
import { quote } from "./quote.ts";
import { findShell, type Shell } from "./shell.ts";
import { ShellStates } from "./shell-states.ts";
import type { CommandRequest } from "./terminals.ts";

/** Terminal type that programs on a pseudo-terminal of ours see, and its size. */
const PTY_ENVIRONMENT = { TERM: "xterm-256color", COLUMNS: "80", LINES: "24" };

export function localBackend(): Backend {
  const states = new ShellStates();
  return {
    place: undefined,
    open: (cwd) => Promise.resolve(cwd),
    plan: (request, givesPty) => plan(states, request, givesPty),
    dispose: () => states.dispose(),
  };
}

async function plan(states: ShellStates, request: CommandRequest, givesPty: boolean): Promise<Plan> {
  const { command, shell, keepsShell, input, pty, outputFile, onOutput } = request;
  const found = await stat(shell.folder).catch(() => undefined);
  if (!found?.isDirectory()) throw new Error(`The folder ${shell.folder} does not exist.`);
  const program = findShell();
  const kept = program.kind === "powershell" ? undefined : await states.keep(shell, keepsShell);
  const line = shellLine(program, command, kept?.preamble);
  const wrapped = pty && !givesPty ? onPty(line) : { ...line, env: {} };
  return {
    launch: {
      program: wrapped.program,
      args: wrapped.args,
      cwd: shell.folder,
      env: { ...line.env, ...kept?.env, ...wrapped.env },
      title: command,
      input: pty ? "open" : input,
      hasPty: pty,
      outputFile,
      onOutput,
    },
    shellAfter: async () => kept?.after(),
    killElsewhere: undefined,
  };
}

type Line = {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

function shellLine(shell: Shell, command: string, preamble: string | undefined): Line {
  switch (shell.kind) {
    case "powershell":
      return { program: shell.path, args: ["-NoProfile", "-NonInteractive", "-Command", command], env: {} };
    case "bash":
      return { program: shell.path, args: ["-c", command], env: preamble === undefined ? {} : { BASH_ENV: preamble } };
    case "sh":
      if (preamble === undefined) return { program: shell.path, args: ["-c", command], env: {} };
      return { program: shell.path, args: ["-c", '. "$1"; shift; eval "$1"', "sh", preamble, command], env: {} };
  }
}

/** The same on a pseudo-terminal, which `script` of util-linux opens and passes through, exit code included. */
function onPty({ program, args }: Line): Line {
  const script = process.platform === "linux" ? findProgram("script") : undefined;
  if (script === undefined) {
    throw new Error(
      "A pseudo-terminal cannot be opened on this machine (it needs `script` of util-linux). Run the command without pty, or ask the user to run it.",
    );
  }
  const inner = ["exec", program, ...args].map((word, index) => (index === 0 ? word : quote(word))).join(" ");
  // `script` runs the line with $SHELL: a plain one, that gives the user's own back.
  const line = `stty cols 80 rows 24; SHELL=${quote(process.env["SHELL"] ?? program)} ${inner}`;
  return {
    program: script,
    args: ["--quiet", "--return", "--flush", "--command", line, "/dev/null"],
    env: { ...PTY_ENVIRONMENT, SHELL: "/bin/sh" },
  };
}

function findProgram(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}
