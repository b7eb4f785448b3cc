/** Runs a short helper program on this machine to its end. */
import { spawn } from "node:child_process";
import { Deadline } from "../../platform/deadline.ts";

/** Time for the rest of the output after the exit; a child of the program may keep the pipe open. */
const DRAIN_MS = 100;
/** Limit of either stream. Characters. */
const MAX_CHARS = 1_000_000;

export type ProgramResult = {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

type ProgramOptions = {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

/**
 * `input` is the program's stdin; `env`: variables besides those of this process. Rejects when the program cannot start,
 * and when the signal aborts.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { input = "", env, signal }: ProgramOptions = {},
): Promise<ProgramResult> {
  const child = spawn(program, [...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, ...env },
    windowsHide: true,
    ...(signal && { signal }),
  });
  const { stdin, stdout, stderr } = child;
  let [out, err] = ["", ""];
  stdout.setEncoding("utf8").on("data", (text: string) => {
    out = (out + text).slice(0, MAX_CHARS);
  });
  stderr.setEncoding("utf8").on("data", (text: string) => {
    err = (err + text).slice(0, MAX_CHARS);
  });
  stdin.on("error", () => undefined); // the program ends without reading
  stdin.end(input);
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  await new Deadline(DRAIN_MS).waitFor(closed);
  for (const stream of [stdout, stderr]) stream.destroy();
  return { exitCode, stdout: out, stderr: err };
}
