// Runs a program to its end: on the terminal, or into a log file.
import { spawn } from "node:child_process";
import { closeSync, createWriteStream, openSync } from "node:fs";
import { constants } from "node:os";
import { finished } from "node:stream/promises";

const TAIL_LINES = 30;
const SHELL_SIGNAL_BASE = 128;

/** Command line and folder. `env` is added to this process's environment. */
export type Program = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
};

/** Runs `program` on this terminal, without standard input. Resolves with its exit code, 128 + number for a signal. */
export function runInTerminal(program: Program): Promise<number> {
  return runWithOutput(program, "inherit");
}

/** Runs `program` like `runInTerminal`, but its output goes to `file`, which is replaced. */
export async function runInFile(program: Program, file: string): Promise<number> {
  const output = openSync(file, "w");
  try {
    return await runWithOutput(program, output);
  } finally {
    closeSync(output);
  }
}

function runWithOutput(program: Program, output: "inherit" | number): Promise<number> {
  const child = spawn(program.command, program.args, { ...spawnOptions(program), stdio: ["ignore", output, output] });
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(cannotStart(program, error)));
    child.once("exit", (code, signal) => resolve(exitCodeOf(code, signal)));
  });
}

/**
 * Runs `program`, appends its output to `logFile`, and resolves with its standard output.
 * @throws when it cannot be started or exits with another code than 0; the message ends with its last lines.
 */
export async function runLogged(program: Program, logFile: string): Promise<string> {
  const log = createWriteStream(logFile, { flags: "a" });
  log.write(`\n$ ${commandLine(program)}\n`);
  const child = spawn(program.command, program.args, { ...spawnOptions(program), stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    printed += text;
    log.write(text);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    log.write(text);
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", (error) => reject(cannotStart(program, error)));
    child.once("close", (exitCode, signal) => resolve(exitCodeOf(exitCode, signal)));
  });
  log.end();
  await finished(log);
  if (code === 0) return output;
  const tail = printed.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
  throw new Error(`\`${commandLine(program)}\` exited with code ${code} (all of it: ${logFile})\n${tail}`);
}

function spawnOptions({ cwd, env }: Program) {
  return { ...(cwd === undefined ? {} : { cwd }), env: { ...process.env, ...env } };
}

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? SHELL_SIGNAL_BASE + (signal === null ? 0 : constants.signals[signal]);
}

function commandLine({ command, args }: Program): string {
  return [command, ...args].join(" ");
}

function cannotStart(program: Program, cause: Error): Error {
  return new Error(`\`${commandLine(program)}\` could not be started: ${cause.message}`, { cause });
}
