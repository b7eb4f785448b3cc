/** Programs as our own children: every byte of output in a file, ended with all they started. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, createWriteStream, mkdirSync, openSync, type WriteStream } from "node:fs";
import { dirname } from "node:path";
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as delay } from "node:timers/promises";
import { openChildPipes } from "./child-pipes.ts";
import { Guard } from "./guard.ts";
import { readOutputFile, readOutputPart } from "./output-file.ts";
import { interruptGroup, killTree, MARKER_VARIABLE } from "./process-tree.ts";
import { CTRL_C, CTRL_D, type Launch, type ProcessTree, type Runner, type Started } from "./runner.ts";
import type { CommandExit, WriteOutcome } from "./terminals.ts";

/** A command that ended is over when no output came for this long, though a child of its still holds the pipe. */
const DRAIN_MS = 500;

/** An output beyond this is a mistake that would fill the disk: the command is stopped. Bytes. */
const MAX_OUTPUT_BYTES = 4 * 1024 ** 3;

/** So that no program waits for a pager or a password that nobody can give. */
const QUIET_ENVIRONMENT = { PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0", TERM: "dumb" };

/** One for all commands of this process. */
const guard = new Guard();

export function childRunner(): Runner {
  return { givesPty: false, start: startChild };
}

async function startChild(launch: Launch): Promise<Started> {
  const { program, args, cwd, env, input, hasPty, outputFile, onOutput } = launch;
  mkdirSync(dirname(outputFile), { recursive: true, mode: 0o700 });
  closeSync(openSync(outputFile, "w", 0o600));
  const file = createWriteStream(outputFile, { flags: "a" });
  const marker = guard.mark();
  const pipes = await openChildPipes(input === "open");
  const child = spawn(program, [...args], {
    cwd,
    detached: process.platform !== "win32",
    env: { ...process.env, ...QUIET_ENVIRONMENT, ...env, [MARKER_VARIABLE]: marker },
    stdio: [pipes?.stdin ?? (input === "open" ? "pipe" : "ignore"), pipes?.stdout ?? "pipe", pipes?.stdout ?? "pipe"],
  });
  pipes?.handOver();
  const ended = new Promise<CommandExit>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const stdin = pipes?.input ?? child.stdin;
  const outputs = [pipes?.output, child.stdout, child.stderr].filter((stream) => stream != null);
  const release = async (): Promise<void> => {
    for (const stream of [stdin, ...outputs]) stream?.destroy();
    await new Promise<void>((resolve) => file.end(() => resolve()));
  };
  stdin?.on("error", () => undefined); // a program that ended without reading; the next write is told
  const pid = await spawned(child).catch(async (error: unknown) => {
    await release();
    throw new Error(`${program} could not be started: ${error instanceof Error ? error.message : String(error)}`);
  });
  const tree: ProcessTree = { pid, marker };
  const flow = new Flow(file, onOutput, () => void killTree(tree));
  for (const stream of outputs) flow.take(stream);
  const exit = ended.then(async (how) => {
    await flow.drained();
    return how;
  });
  exit.catch(() => undefined); // whoever waits for it is told; a second observer must not make it unhandled
  return {
    terminalId: undefined,
    tree,
    exit,
    output: () => readOutputFile(outputFile),
    read: (from, maxBytes) => readOutputPart(outputFile, from, maxBytes),
    write: (text) => typeInto(stdin, text, hasPty ? undefined : tree),
    kill: () => killTree(tree),
    release,
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

/** `tree` is given where no pseudo-terminal makes an interrupt of Ctrl+C and an end of Ctrl+D. */
async function typeInto(stdin: Writable | null, text: string, tree: ProcessTree | undefined): Promise<WriteOutcome> {
  if (tree !== undefined && text === CTRL_C) {
    interruptGroup(tree);
    return { ok: true };
  }
  if (!stdin?.writable) return { ok: false, reason: "Its input is closed: nothing can be written to it." };
  const ends = tree !== undefined && text.endsWith(CTRL_D);
  const typed = ends ? text.slice(0, -1) : text;
  const failure = await new Promise<Error | null | undefined>((resolve) => {
    stdin.write(typed, resolve);
  });
  if (failure) return { ok: false, reason: `It does not read its input any more (${failure.message}).` };
  if (ends) stdin.end();
  return { ok: true };
}

/** Output on its way to the file: with back-pressure, so that a fast printer waits for the disk and memory stays flat. */
class Flow {
  readonly #file: WriteStream;
  readonly #onOutput: ((text: string) => void) | undefined;
  readonly #stop: () => void;
  readonly #closed: Promise<void>[] = [];
  #lastByteAt = 0;
  #bytes = 0;
  #failure: Error | undefined;

  /** `stop` ends a command whose output cannot be kept. */
  constructor(file: WriteStream, onOutput: ((text: string) => void) | undefined, stop: () => void) {
    this.#file = file;
    this.#onOutput = onOutput;
    this.#stop = stop;
    file.on("error", (error) => this.#fail(new Error(`The output could not be stored: ${error.message}`)));
  }

  take(from: Readable): void {
    const decoder = new StringDecoder("utf8");
    from.on("data", (bytes: Buffer) => {
      this.#lastByteAt = performance.now();
      if (this.#failure !== undefined) return;
      this.#onOutput?.(decoder.write(bytes));
      this.#bytes += bytes.length;
      if (this.#bytes > MAX_OUTPUT_BYTES) this.#fail(new Error("It was stopped: it printed more than 4 GiB."));
      if (this.#file.write(bytes)) return;
      from.pause();
      const resume = (): void => {
        this.#file.off("drain", resume).off("close", resume);
        from.resume();
      };
      this.#file.once("drain", resume).once("close", resume);
    });
    this.#closed.push(
      new Promise((resolve) => {
        from.once("close", resolve);
        from.once("error", () => resolve());
      }),
    );
  }

  /** Resolves when all output of an ended command is in the file; rejects when it could not be kept. */
  async drained(): Promise<void> {
    let open = true;
    const closed = Promise.all(this.#closed).then(() => {
      open = false;
    });
    const begin = performance.now();
    const quiet = (): number => performance.now() - Math.max(begin, this.#lastByteAt);
    while (open && quiet() < DRAIN_MS) await Promise.race([closed, pause(DRAIN_MS - quiet())]);
    if (this.#file.writable) await new Promise<void>((resolve) => this.#file.write("", () => resolve()));
    if (this.#failure !== undefined) throw this.#failure;
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#stop();
  }
}

function pause(milliseconds: number): Promise<void> {
  return delay(milliseconds, undefined, { ref: false });
}
