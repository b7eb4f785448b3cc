/** One command of the agent as our own child: complete output and exit code, ended with all it started. */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { createWriteStream, mkdirSync, type WriteStream } from "node:fs";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as delay } from "node:timers/promises";
import {
  type CreateTerminalRequest,
  RequestError,
  type WaitForTerminalExitResponse,
} from "@zed-industries/agent-client-protocol";
import { openChildPipes } from "./child-pipes.ts";
import { Guard } from "./guard.ts";
import { interruptGroup, killTree, MARKER_VARIABLE } from "./kill-tree.ts";
import type { TerminalRequest } from "./terminal-request.ts";

/** A command that ended is over when no output came for this long, though a child of its still holds the pipe. */
const DRAIN_MS = 500;
/** An output beyond this is a mistake that would fill the disk: the command is stopped. Bytes. */
const MAX_OUTPUT_BYTES = 4 * 1024 ** 3;
/** So that no program waits for a pager nobody pages. */
const QUIET_ENVIRONMENT = { PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0" };

/** One for all commands of this window. */
const guard = new Guard();

export type AgentChild = {
  readonly pid: number;
  readonly marker: string;
  /** Settles when the command has ended and its output is all there; rejects when that could not be kept. */
  readonly exit: Promise<WaitForTerminalExitResponse>;
  /** Hands input to it; gives why not when that cannot be done. */
  write(text: string): Promise<string | undefined>;
  endInput(): void;
  interrupt(): void;
  kill(): Promise<void>;
};

/** Starts it; `onOutput` gets the output as it comes. Rejects when it cannot be started. */
export async function startChild(
  request: CreateTerminalRequest,
  { input, outputFile }: TerminalRequest,
  onOutput: (bytes: Buffer, text: string) => void,
): Promise<AgentChild> {
  const marker = guard.mark();
  const pipes = await openChildPipes(input === "open");
  const child = spawnChild(request, marker, [
    pipes?.stdin ?? (input === "open" ? "pipe" : "ignore"),
    pipes?.stdout ?? "pipe",
    pipes?.stdout ?? "pipe",
  ]);
  pipes?.handOver();
  const stdin = pipes?.input ?? child.stdin;
  stdin?.on("error", () => undefined); // a program that ended without reading; the next write is told
  const ended = new Promise<WaitForTerminalExitResponse>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const outputs = [pipes?.output, child.stdout, child.stderr].filter((stream) => stream != null);
  const pid = await spawned(child).catch((error: Error) => {
    for (const stream of [stdin, ...outputs]) stream?.destroy();
    throw RequestError.internalError(undefined, `${request.command}: ${error.message}`);
  });
  const file = outputFile === undefined ? undefined : openFile(outputFile);
  const pour = pourOutput(outputs, file, onOutput, () => void killTree(pid, marker));
  return {
    pid,
    marker,
    exit: ended.then(async (how) => {
      await pour.drained();
      return how;
    }),
    async write(text) {
      if (!stdin?.writable) return "Its input is closed: nothing can be written to it.";
      const failure = await new Promise<Error | null | undefined>((resolve) => {
        stdin.write(text, resolve);
      });
      return failure ? `It does not read its input any more (${failure.message}).` : undefined;
    },
    endInput: () => stdin?.end(),
    interrupt: () => interruptGroup(child),
    kill: () => killTree(pid, marker),
  };
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

function spawnChild(
  { command, args = [], cwd, env = [] }: CreateTerminalRequest,
  marker: string,
  stdio: StdioOptions,
): ChildProcess {
  const given = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  return spawn(command, args, {
    ...(cwd != null && { cwd }),
    detached: process.platform !== "win32",
    env: { ...process.env, ...QUIET_ENVIRONMENT, ...given, [MARKER_VARIABLE]: marker },
    stdio,
  });
}

function openFile(path: string): WriteStream {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return createWriteStream(path, { flags: "w", mode: 0o600 });
}

type Pour = { drained(): Promise<void> };

/** Output to the file and to whoever looks on, with back-pressure: memory stays flat. `stop` ends the command. */
function pourOutput(
  streams: readonly Readable[],
  file: WriteStream | undefined,
  onOutput: (bytes: Buffer, text: string) => void,
  stop: () => void,
): Pour {
  let lastByteAt = performance.now();
  let total = 0;
  let failure: Error | undefined;
  const fail = (message: string): void => {
    if (failure !== undefined) return;
    failure = RequestError.internalError(undefined, message);
    stop();
  };
  file?.on("error", (error) => fail(`The output could not be stored: ${error.message}`));
  const closed = streams.map((stream) => {
    const decoder = new StringDecoder("utf8");
    stream.on("data", (bytes: Buffer) => {
      lastByteAt = performance.now();
      if (failure !== undefined) return;
      total += bytes.length;
      if (total > MAX_OUTPUT_BYTES) fail("It was stopped: it printed more than 4 GiB.");
      onOutput(bytes, decoder.write(bytes));
      if (file === undefined || file.write(bytes)) return;
      stream.pause();
      const resume = (): void => {
        file.off("drain", resume).off("close", resume);
        stream.resume();
      };
      file.once("drain", resume).once("close", resume);
    });
    return new Promise<void>((resolve) => stream.once("close", () => resolve()));
  });
  return {
    async drained() {
      let open = true;
      const allClosed = Promise.all(closed).then(() => {
        open = false;
      });
      const begin = performance.now();
      const quiet = (): number => performance.now() - Math.max(begin, lastByteAt);
      while (open && quiet() < DRAIN_MS) await Promise.race([allClosed, delay(DRAIN_MS - quiet())]);
      // What it left running may print on: the file stays open for it.
      if (file?.writable) await new Promise<void>((resolve) => file.write("", () => resolve()));
      void allClosed.then(() => file?.end());
      if (failure !== undefined) throw failure;
    },
  };
}
