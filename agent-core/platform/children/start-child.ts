/** Programs as our own children: every byte of output in a file, the exit code, ended with all they started. */
import { type ChildProcess, spawn } from "node:child_process";
import { messageOf } from "../errors.ts";
import { openChildPipes } from "./child-pipes.ts";
import { Guard } from "./guard.ts";
import { makeOutputFile, OutputFlow, type OutputListener } from "./output-flow.ts";
import { interruptGroup, killTree, MARKER_VARIABLE, type ProcessTree } from "./process-tree.ts";

/** So that no program waits for a pager, an editor or a password that nobody can give. */
export const QUIET_ENVIRONMENT = { PAGER: "cat", GIT_PAGER: "cat", GIT_EDITOR: "true", GIT_TERMINAL_PROMPT: "0" };

/** One for all commands of this process. */
const guard = new Guard();

export type ChildRequest = {
  readonly program: string;
  readonly args: readonly string[];
  /** Absolute folder; undefined: this process's own. */
  readonly cwd: string | undefined;
  /** On top of this process's own. */
  readonly env: Readonly<Record<string, string>>;
  /** `none`: reading its input gives the end at once. */
  readonly input: "none" | "open";
  /** Absolute path that receives every byte; what is there is replaced. Undefined: nobody asked for one. */
  readonly outputFile: string | undefined;
  readonly onOutput: OutputListener;
};

export type ChildExit = { readonly exitCode: number | null; readonly signal: string | null };

export type Child = {
  readonly tree: ProcessTree;
  /** Settles when it has ended and its output is all there; rejects when that could not be kept. */
  readonly exit: Promise<ChildExit>;
  /** Hands input to it; gives why not when that cannot be done. */
  write(text: string): Promise<string | undefined>;
  endInput(): void;
  /** What Ctrl+C does in a terminal. */
  interrupt(): void;
  /** Ends it with all it started; resolves when that is gone. */
  kill(): Promise<void>;
  /** Lets go of its streams and the file, also when something that it left running still prints. */
  release(): Promise<void>;
};

/** Rejects with a sentence for people when it cannot be started. */
export async function startChild(request: ChildRequest): Promise<Child> {
  const { program, input, outputFile, onOutput } = request;
  if (outputFile !== undefined) makeOutputFile(outputFile);
  const marker = guard.mark();
  const pipes = await openChildPipes(input === "open");
  const child = spawnChild(request, marker, [pipes?.stdin ?? inputKinds[input], pipes?.stdout, pipes?.stdout]);
  pipes?.handOver();
  const ended = new Promise<ChildExit>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const stdin = pipes?.input ?? child.stdin;
  stdin?.on("error", () => undefined); // a program that ended without reading; the next write is told
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
  for (const stream of outputs) flow.take(stream);
  const exit = ended.then(async (how) => {
    await flow.drained();
    return how;
  });
  exit.catch(() => undefined); // whoever waits for it is told; a second observer must not make it unhandled
  return {
    tree,
    exit,
    async write(text) {
      if (!stdin?.writable) return "Its input is closed: nothing can be written to it.";
      const failure = await new Promise<Error | null | undefined>((resolve) => {
        stdin.write(text, resolve);
      });
      return failure ? `It does not read its input any more (${failure.message}).` : undefined;
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
  { program, args, cwd, env }: ChildRequest,
  marker: string,
  [input, output = "pipe", errors = "pipe"]: readonly [Descriptor, Descriptor, Descriptor],
): ChildProcess {
  return spawn(program, [...args], {
    ...(cwd !== undefined && { cwd }),
    detached: process.platform !== "win32",
    env: { ...process.env, ...QUIET_ENVIRONMENT, ...env, [MARKER_VARIABLE]: marker },
    stdio: [input, output, errors],
  });
}

/** The process id once it runs; rejects with the system's error when it cannot be started. */
function spawned(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => {
      if (child.pid === undefined) reject(new Error("it has no process id"));
      else resolve(child.pid);
    });
  });
}
