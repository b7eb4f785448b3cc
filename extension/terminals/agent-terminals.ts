/** The agent's commands: our own children, so that output and exit code are complete, shown in VS Code terminals. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createWriteStream, mkdirSync, type WriteStream } from "node:fs";
import { dirname } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as delay } from "node:timers/promises";
import {
  type CreateTerminalRequest,
  RequestError,
  type TerminalOutputResponse,
  type WaitForTerminalExitResponse,
} from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import * as z from "zod";
import { killTree, MARKER_VARIABLE } from "./kill-tree.ts";
import { OutputRing } from "./output-ring.ts";

/** Bytes kept for `terminal/output` when the agent names no limit. */
const DEFAULT_OUTPUT_BYTES = 1_048_576;
/** After the command ended, while a child of its still holds the pipe: no output for this long is the end of it. */
const QUIET_MS = 500;
/** A child that goes on printing is not waited for any longer. */
const DRAIN_LIMIT_MS = 10_000;
/** So that no program waits for a pager nobody pages. */
const QUIET_ENVIRONMENT = { PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0" };

const CTRL_C = "\u0003";

const metaSchema = z.object({ hermes: z.object({ outputFile: z.string() }) });

export type TerminalListener = {
  output(terminalId: string, text: string): void;
  exit(terminalId: string, exit: { readonly exitCode: number | null; readonly signal: string | null }): void;
};

type AgentTerminal = {
  readonly child: ChildProcess;
  readonly ring: OutputRing;
  readonly terminal: vscode.Terminal;
  readonly exit: Promise<WaitForTerminalExitResponse>;
  readonly marker: string;
  ended: WaitForTerminalExitResponse | undefined;
  released: boolean;
};

export class AgentTerminals implements vscode.Disposable {
  readonly #terminals = new Map<string, AgentTerminal>();
  readonly #listener: TerminalListener;
  #count = 0;

  constructor(listener: TerminalListener) {
    this.#listener = listener;
  }

  async create(request: CreateTerminalRequest): Promise<string> {
    if (!vscode.workspace.isTrusted) {
      throw RequestError.internalError(undefined, "commands are not run in a workspace that is not trusted");
    }
    this.#count += 1;
    const id = `terminal-${this.#count}`;
    const marker = randomUUID();
    const child = spawnChild(request, marker);
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) =>
        reject(RequestError.internalError(undefined, `${request.command}: ${error.message}`)),
      );
    });
    const screen = new Screen(() => void killTree(child.pid ?? 0, marker));
    const title = commandLine(request);
    const terminal = vscode.window.createTerminal({
      name: `Hermes: ${title.slice(0, 40)}`,
      pty: screen,
      iconPath: new vscode.ThemeIcon("sparkle"),
    });
    screen.print(`\u001b[2m$ ${title}\u001b[0m\r\n`);
    const ring = new OutputRing(request.outputByteLimit ?? DEFAULT_OUTPUT_BYTES);
    const file = outputFile(request);
    const decoder = new StringDecoder("utf8");
    const take = (bytes: Buffer): boolean => {
      ring.add(bytes);
      const text = decoder.write(bytes);
      screen.print(text.replace(/\r?\n/g, "\r\n"));
      this.#listener.output(id, text);
      return file?.write(bytes) ?? true;
    };
    const exit = finished(child, file, take).then((ended) => {
      const entry = this.#terminals.get(id);
      if (entry) entry.ended = ended;
      screen.print(
        `\r\n\u001b[2m[${ended.signal ? `ended by ${ended.signal}` : `exit code ${ended.exitCode}`}]\u001b[0m\r\n`,
      );
      this.#listener.exit(id, { exitCode: ended.exitCode ?? null, signal: ended.signal ?? null });
      return ended;
    });
    this.#terminals.set(id, { child, ring, terminal, exit, marker, ended: undefined, released: false });
    return id;
  }

  output(id: string): TerminalOutputResponse {
    const { ring, ended } = this.#get(id);
    return { output: ring.text(), truncated: ring.truncated, exitStatus: ended ?? null };
  }

  waitForExit(id: string): Promise<WaitForTerminalExitResponse> {
    return this.#get(id).exit;
  }

  async kill(id: string): Promise<void> {
    const { child, marker } = this.#get(id);
    await killTree(child.pid ?? 0, marker);
  }

  /** The agent is done with it; what it showed stays until the user closes it or the next command is released. */
  release(id: string): void {
    const released = this.#get(id);
    released.released = true;
    if (released.ended === undefined) void killTree(released.child.pid ?? 0, released.marker);
    for (const [other, entry] of this.#terminals) {
      if (other !== id && entry.released && entry.ended !== undefined) {
        entry.terminal.dispose();
        this.#terminals.delete(other);
      }
    }
  }

  /** Brings a command's terminal to the front without taking the caret. */
  show(id: string): void {
    this.#terminals.get(id)?.terminal.show(true);
  }

  dispose(): void {
    for (const { child, terminal, marker, ended } of this.#terminals.values()) {
      if (ended === undefined) void killTree(child.pid ?? 0, marker);
      terminal.dispose();
    }
    this.#terminals.clear();
  }

  #get(id: string): AgentTerminal {
    const terminal = this.#terminals.get(id);
    if (terminal === undefined) throw RequestError.resourceNotFound(id);
    return terminal;
  }
}

/** What a VS Code terminal shows of a command, also of what was printed before it was opened. */
class Screen implements vscode.Pseudoterminal {
  readonly #writes = new vscode.EventEmitter<string>();
  readonly #kill: () => void;
  #early: string | undefined = "";

  readonly onDidWrite = this.#writes.event;

  constructor(kill: () => void) {
    this.#kill = kill;
  }

  print(text: string): void {
    if (this.#early === undefined) this.#writes.fire(text);
    else this.#early += text;
  }

  open(): void {
    const early = this.#early ?? "";
    this.#early = undefined;
    this.#writes.fire(early);
  }

  close(): void {
    this.#kill();
  }

  handleInput(data: string): void {
    if (data === CTRL_C) this.#kill();
  }
}

function spawnChild({ command, args = [], cwd, env = [] }: CreateTerminalRequest, marker: string): ChildProcess {
  const given = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  return spawn(command, args, {
    ...(cwd != null && { cwd }),
    detached: process.platform !== "win32",
    env: { ...process.env, ...QUIET_ENVIRONMENT, ...given, [MARKER_VARIABLE]: marker },
    // No input: a program that finds an open pipe there (as ripgrep does) would read it and wait for ever.
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** A shell's own line is what the user knows the command by. */
function commandLine({ command, args = [] }: CreateTerminalRequest): string {
  return args[0] === "-c" && args.length === 2 ? (args[1] ?? command) : [command, ...args].join(" ");
}

function outputFile({ _meta: meta }: CreateTerminalRequest): WriteStream | undefined {
  const path = metaSchema.safeParse(meta).data?.hermes.outputFile;
  if (path === undefined) return undefined;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return createWriteStream(path, { flags: "w", mode: 0o600 });
}

/** Settles when the command has ended and its output is all there. */
async function finished(
  child: ChildProcess,
  file: WriteStream | undefined,
  take: (bytes: Buffer) => boolean,
): Promise<WaitForTerminalExitResponse> {
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  let pieces = 0;
  const drained = streams.map((stream) => {
    stream.on("data", (bytes: Buffer) => {
      pieces += 1;
      if (take(bytes)) return;
      stream.pause();
      file?.once("drain", () => stream.resume());
    });
    return new Promise<void>((resolve) => stream.once("close", () => resolve()));
  });
  const ended = await new Promise<WaitForTerminalExitResponse>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  await Promise.race([Promise.all(drained), quiet(() => pieces)]);
  if (file !== undefined) await new Promise<void>((resolve) => file.end(() => resolve()));
  return ended;
}

/** Resolves when nothing has come for a while. */
async function quiet(pieces: () => number): Promise<void> {
  const deadline = performance.now() + DRAIN_LIMIT_MS;
  for (let before = -1; before !== pieces() && performance.now() < deadline; ) {
    before = pieces();
    await delay(QUIET_MS);
    // On a busy machine the timer comes before the output that is there already.
    await new Promise(setImmediate);
  }
}
