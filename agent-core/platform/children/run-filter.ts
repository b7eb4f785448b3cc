/** Runs a program as a filter: text goes in, limited output comes out, and no process of it is left. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { messageOf } from "../errors.ts";
import { guard } from "./guard.ts";
import { isGroupAlive, killTree, MARKER_VARIABLE } from "./process-tree.ts";

/** Time for the output to arrive after the end of the program. A process that it left may hold the pipe open for ever. */
const OUTPUT_GRACE_MS = 500;

/** Limit of the output of a shell's line: an installation of packages prints a lot. Bytes. */
const MAX_SHELL_OUTPUT = 20_000_000;

export type FilterRequest = {
  readonly program: string;
  /** On Windows they reach the program as they are. */
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  /** Limit of the output and of the errors, each. Bytes. */
  readonly maxOutput: number;
};

export type FilterEnd = { readonly exitCode: number; readonly output: string; readonly errors: string };

/** Rejects with a reason in one line when the program did not end by itself, and with the signal's reason after an abort. */
export async function runFilter(request: FilterRequest, signal: AbortSignal): Promise<FilterEnd> {
  signal.throwIfAborted();
  const { program, args, cwd, env, input, maxOutput } = request;
  const marker = guard.mark();
  const detached = process.platform !== "win32";
  const options = { windowsVerbatimArguments: true, windowsHide: true };
  const child = spawn(program, [...args], { cwd, detached, ...options, env: { ...env, [MARKER_VARIABLE]: marker } });
  const exited = exitOf(child);
  const { pid } = child;
  if (pid === undefined) return { exitCode: await exited, output: "", errors: "" }; // rejects with the reason
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  const tooLong = (): void => stopped.reject(new Error(`it printed more than ${maxOutput / 1024} kB`));
  const output = collect(child.stdout, maxOutput, tooLong);
  const errors = collect(child.stderr, maxOutput, tooLong);
  child.stdin.on("error", () => undefined); // a program need not read its input
  child.stdin.end(input);
  try {
    const exitCode = await Promise.race([exited, stopped.promise]);
    return { exitCode, output: output(), errors: errors() };
  } finally {
    signal.removeEventListener("abort", stop);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    const ended = killTree({ pid, marker }); // of an empty group too: a process may have left it
    if (isGroupAlive(pid)) await ended;
  }
}

/** Runs a line of the system's shell, with all variables of this process. Rejects as `runFilter`. */
export function runShell(line: string, cwd: string, signal: AbortSignal): Promise<FilterEnd> {
  const { program, args } = shellFor(line);
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return runFilter({ program, args, cwd, env, input: "", maxOutput: MAX_SHELL_OUTPUT }, signal);
}

/** A program that runs a line of the system's shell. `script`: around the line, where the shell is a Unix one. */
export function shellFor(line: string, script: readonly string[] = [line]): Pick<FilterRequest, "program" | "args"> {
  if (process.platform !== "win32") return { program: "sh", args: ["-c", ...script] };
  return { program: process.env["ComSpec"] ?? "cmd.exe", args: ["/d", "/s", "/c", `"${line}"`] };
}

/** Settles when the program has ended and its output is read, as far as others do not hold it open. */
function exitOf(child: ChildProcess): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.once("error", (error) => reject(new Error(`it could not be started (${messageOf(error)})`)));
  child.once("exit", (exitCode, signal) => {
    if (exitCode === null) return reject(new Error(`it was ended by ${signal ?? "a signal"}`));
    const timer = setTimeout(() => resolve(exitCode), OUTPUT_GRACE_MS);
    child.once("close", () => {
      clearTimeout(timer);
      resolve(exitCode);
    });
  });
  promise.catch(() => undefined); // a program that is stopped rejects after its caller has left
  return promise;
}

/** Returns a function that gives the text up to now. */
function collect(stream: Readable, maxBytes: number, onTooLong: () => void): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) onTooLong();
    else chunks.push(chunk);
  });
  stream.on("error", () => undefined); // destroyed with the program
  return () => Buffer.concat(chunks).toString("utf8");
}
