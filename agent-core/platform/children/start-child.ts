/** Starts programs as child processes: stores all output, gives the exit code, and ends the whole process tree. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";
import { messageOf } from "../errors.ts";
import { guard } from "./guard.ts";
import { makeOutputFile, OutputFlow, type OutputListener } from "./output-flow.ts";
import { interruptGroup, killTree, MARKER_VARIABLE, type ProcessTree } from "./process-tree.ts";

/** Keeps programs from waiting for a pager, an editor or a password. */
export const UNATTENDED_ENVIRONMENT = { PAGER: "cat", GIT_PAGER: "cat", GIT_EDITOR: "true", GIT_TERMINAL_PROMPT: "0" };

const run = promisify(execFile);

export type ChildRequest = {
  readonly program: string;
  readonly args: readonly string[];
  /** Absolute folder; default: the folder of this process. */
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** False when `env` is the whole environment; else the program gets the variables of this process, too. */
  readonly inherits?: boolean;
  /** `none`: the program reads an end of file at once. */
  readonly input: "none" | "open";
  /** Absolute path of a file that is replaced by the output; undefined: the output is not stored. */
  readonly outputFile: string | undefined;
  readonly onOutput: OutputListener;
};

export type ChildExit = { readonly exitCode: number | null; readonly signal: string | null };

export type Child = {
  readonly tree: ProcessTree;
  /** Settles after the exit, once all output is stored; rejects when the output was too long. */
  readonly exit: Promise<ChildExit>;
  /** Writes input; gives the reason when that fails. */
  write(text: string): Promise<string | undefined>;
  endInput(): void;
  /** Interrupts the program, as Ctrl+C does in a terminal. */
  interrupt(): void;
  /** Ends the process tree; resolves when it is gone. */
  kill(): Promise<void>;
  /** Closes streams and file, even if a process that outlives the program still prints. */
  release(): Promise<void>;
};

/** Rejects with a sentence for people when the program cannot start. */
export async function startChild(request: ChildRequest): Promise<Child> {
  const { program, input, onOutput } = request;
  const outputFile = request.outputFile === undefined ? undefined : makeOutputFile(request.outputFile);
  const marker = guard.mark();
  const pipes = await openChildPipes(input === "open");
  const child = spawnChild(request, marker, [pipes?.stdin ?? inputKinds[input], pipes?.stdout, pipes?.stdout]);
  pipes?.closeChildEnds();
  const ended = new Promise<ChildExit>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const stdin = pipes?.input ?? child.stdin;
  stdin?.on("error", () => undefined); // the program ended without reading; the next write fails
  const outputs = [pipes?.output, child.stdout, child.stderr].filter((stream) => stream != null);
  const destroy = (): void => {
    for (const stream of [stdin, ...outputs]) stream?.destroy();
  };
  const pid = await spawned(child).catch((error: unknown) => {
    destroy();
    throw new Error(`${program} could not be started: ${messageOf(error)}`);
  });
  const tree: ProcessTree = { pid, marker };
  const flow = new OutputFlow({ outputFile, onOutput, stop: () => void killTree(tree) });
  for (const stream of outputs) flow.add(stream);
  const exit = ended.then(async (how) => {
    await flow.drained();
    return how;
  });
  exit.catch(() => undefined); // `exit` rejects for its caller; other observers must not make the rejection unhandled
  return {
    tree,
    exit,
    async write(text) {
      if (!stdin?.writable) return "Its input is closed: nothing can be written to it.";
      const failure = await new Promise<Error | null | undefined>((resolve) => {
        stdin.write(text, resolve);
      });
      return failure ? `It no longer reads its input (${failure.message}).` : undefined;
    },
    endInput: () => stdin?.end(),
    interrupt: () => interruptGroup(tree),
    kill: () => killTree(tree),
    async release() {
      destroy();
      await flow.close();
    },
  };
}

const inputKinds = { none: "ignore", open: "pipe" } as const;

type Descriptor = number | "ignore" | "pipe" | undefined;

function spawnChild(
  { program, args, cwd, env, inherits = true }: ChildRequest,
  marker: string,
  [input, output = "pipe", errors = "pipe"]: readonly [Descriptor, Descriptor, Descriptor],
): ChildProcess {
  return spawn(program, [...args], {
    ...(cwd !== undefined && { cwd }),
    detached: process.platform !== "win32",
    windowsHide: true,
    env: {
      ...(inherits ? process.env : { TERM: process.env["TERM"] }),
      ...UNATTENDED_ENVIRONMENT,
      ...env,
      [MARKER_VARIABLE]: marker,
    },
    stdio: [input, output, errors],
  });
}

/** Process id after the start; rejects with the system's error. */
function spawned(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => {
      if (child.pid === undefined) reject(new Error("it has no process id"));
      else resolve(child.pid);
    });
  });
}

/**
 * Real pipes for a child's input and output. Node.js gives a child sockets: `tee /dev/stderr`, `> /dev/stdout` and
 * `< /dev/stdin` fail on sockets, and bash assumes a remote login. Named pipes are opened at both ends, and their names
 * removed at once.
 */
type ChildPipes = {
  /** The child's ends, for `stdio`. One pipe carries both output and errors. */
  readonly stdin: number | undefined;
  readonly stdout: number;
  readonly input: Writable | undefined;
  readonly output: Readable;
  /** Closes our copies of the child's ends; called once the child has started or failed to. */
  closeChildEnds(): void;
};

/** Undefined on systems without named pipes. Without `withInput` the caller provides the child's input. */
async function openChildPipes(withInput: boolean): Promise<ChildPipes | undefined> {
  if (process.platform === "win32") return undefined;
  const path = join(tmpdir(), `hermes-pipe-${randomUUID()}`);
  const paths = withInput ? [path, `${path}-in`] : [path];
  try {
    await run("mkfifo", ["-m", "600", ...paths]);
  } catch {
    return undefined; // there is no such program, or the folder cannot hold pipes
  }
  try {
    // Our ends do not block. The child's ends must, or its reads would fail instead of waiting.
    const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stdout = openSync(path, constants.O_WRONLY);
    const output = new Socket({ fd: reading, readable: true, writable: false });
    if (!withInput)
      return { stdin: undefined, stdout, input: undefined, output, closeChildEnds: () => closeSync(stdout) };
    const { stdin, input } = openInput(`${path}-in`);
    const closeChildEnds = (): void => {
      closeSync(stdout);
      closeSync(stdin);
    };
    return { stdin, stdout, input, output, closeChildEnds };
  } finally {
    for (const name of paths) rmSync(name, { force: true });
  }
}

function openInput(path: string): { readonly stdin: number; readonly input: Writable } {
  const holder = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK); // a writer needs a reader to open at all
  const writing = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  const stdin = openSync(path, constants.O_RDONLY);
  closeSync(holder);
  return { stdin, input: new Socket({ fd: writing, readable: false, writable: true }) };
}
