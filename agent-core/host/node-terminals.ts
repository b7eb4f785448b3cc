/** Commands of this machine: our own children, every byte of output in a file, ended with all they started. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, createWriteStream, mkdirSync, openSync, type WriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { CommandExit, CommandRequest, HostTerminals, RunningCommand } from "./host.ts";
import { readOutputFile } from "./output-file.ts";
import { killTree, MARKER_VARIABLE } from "./process-tree.ts";
import { shellCommand } from "./shell.ts";

/** How long output is waited for after the command ended while a child of its still holds the pipe. */
const DRAIN_MS = 500;

/** So that no program waits for a pager or a password that nobody can give. */
const QUIET_ENVIRONMENT = { PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0", TERM: "dumb" };

export type NodeTerminals = HostTerminals & {
  /** Ends every command that still runs, with all it started. */
  dispose(): Promise<void>;
};

export function nodeTerminals(): NodeTerminals {
  const running = new Set<RunningCommand>();
  return {
    async start(request, signal) {
      const folder = await stat(request.cwd).catch(() => undefined);
      if (!folder?.isDirectory()) throw new Error(`The folder ${request.cwd} does not exist.`);
      signal.throwIfAborted();
      const command = startCommand(request);
      running.add(command);
      const forget = (): boolean => running.delete(command);
      command.exit.then(forget, forget);
      return command;
    },
    async dispose() {
      await Promise.all([...running].map((command) => command.kill()));
    },
  };
}

function startCommand({ command, cwd, env, outputFile, onOutput }: CommandRequest): RunningCommand {
  mkdirSync(dirname(outputFile), { recursive: true, mode: 0o700 });
  closeSync(openSync(outputFile, "w", 0o600));
  const file = createWriteStream(outputFile, { flags: "a" });
  const marker = randomUUID();
  // One pipe for both streams, or an error would not stand where it happened.
  const shell = shellCommand(process.platform === "win32" ? command : `exec 2>&1\n${command}`);
  const child = spawn(shell.command, shell.args, {
    cwd,
    detached: process.platform !== "win32",
    env: { ...process.env, ...QUIET_ENVIRONMENT, ...env, [MARKER_VARIABLE]: marker },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const drained = Promise.all([pour(child.stdout, file, onOutput), pour(child.stderr, file, onOutput)]);
  const ended = new Promise<CommandExit>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const exit = ended.then(async (how) => {
    await Promise.race([drained, unrefTimer(DRAIN_MS)]);
    await flushed(file);
    return how;
  });
  exit.catch(() => undefined); // whoever waits for it is told; a second observer must not make it unhandled
  return {
    terminalId: undefined,
    exit,
    output: () => readOutputFile(outputFile),
    async kill() {
      if (child.pid !== undefined) await killTree(child.pid, marker);
    },
    async release() {
      child.stdout.destroy();
      child.stderr.destroy();
      file.end();
    },
  };
}

/** Pipes with back-pressure: a command that prints faster than the disk takes it waits, and memory stays flat. */
function pour(from: Readable, file: WriteStream, onOutput: ((text: string) => void) | undefined): Promise<void> {
  const decoder = new StringDecoder("utf8");
  from.on("data", (bytes: Buffer) => {
    onOutput?.(decoder.write(bytes));
    if (file.write(bytes)) return;
    from.pause();
    file.once("drain", () => from.resume());
  });
  return new Promise((resolve) => {
    from.once("close", resolve);
    from.once("error", () => resolve());
  });
}

function flushed(file: WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (file.writableLength === 0) resolve();
    else file.write("", () => resolve());
  });
}

function unrefTimer(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}
