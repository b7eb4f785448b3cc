/**
 * Transport to a server that is a child process. Unlike the library's own, it gives the server a clean environment and ends
 * the server's children too, and one long message does not end the connection.
 */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { commandEnvironment } from "../host/terminals/command-environment.ts";
import type { ConfinedStart } from "../host/terminals/terminals.ts";
import { type GroupProcess, type GroupStart, startGroup } from "../platform/children/group-process.ts";
import { Deadline } from "../platform/deadline.ts";
import { hasCode } from "../platform/errors.ts";
import { parseJson } from "../platform/json.ts";

/**
 * Longest message of a server. Screenshots and files of up to 12 MB fit, and parsing takes less than a tenth of a second.
 * A longer line would block the event loop, and one without an end would fill the memory. Bytes.
 */
const MAX_MESSAGE_BYTES = 16 * 1024 ** 2;
/** Start and end of a message that have its id. Bytes. */
const ID_BYTES = 100;
/** Last part of the server's stderr that is kept for the error of a failed start. Characters. */
const STDERR_CHARS = 2_000;
/** Lines of stderr in an error: the last one alone is often only the version of the program. */
const STDERR_LINES = 3;
/** Line that names an error, of Node.js, Python and npm; after it come details of the program. */
const ERROR_LINE = /^(?:[\w.]*(?:Error|Exception)\b|npm error\b|npm ERR!)/;
/** Lines of a stack trace, and of Node.js after it, without words for the user. */
const STACK_LINE = /^(?:$|at |\^+$|Node\.js v\d|code: |requireStack: |- \/|[\]}]+$)/;
/** Longest line of stderr in an error. Characters. */
const LINE_CHARS = 200;
/** Time for a server that has closed its input to end. Milliseconds. */
const END_MS = 1_000;
/** Time for the last lines of a server that has ended; a child of it may hold stderr open. Milliseconds. */
const LAST_LINES_MS = 200;
/** Time from a message to the note of the children that the server may have started for it. Milliseconds. */
const NOTE_MS = 300;

/** A shorter value of a variable is a switch or a number. Characters. */
const MIN_SECRET_CHARS = 8;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #start: GroupStart;
  /** The server's own variables, which may be keys. */
  readonly #own: GroupStart["env"];
  readonly #confined: Pick<ConfinedStart, "end"> | undefined;
  #server: GroupProcess | undefined;
  /** Parts of a line that has not ended. */
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Lines of a message that has more than one. */
  #open: { readonly lines: string[]; chars: number } = { lines: [], chars: 0 };
  /** Start and end of a message that is too long. */
  #skipped: { readonly head: string; tail: Buffer } | undefined;
  #stderr = "";
  #noting: NodeJS.Timeout | undefined;
  #how: string | undefined;
  /** Resolves when the server has ended by itself and its last lines are there. */
  #ended: Promise<void> = Promise.resolve();

  /** `env`: the server's own variables. `confined`: sandbox of its start. */
  constructor(start: GroupStart, confined?: Pick<ConfinedStart, "env" | "end">) {
    this.#own = start.env;
    this.#start = { ...start, env: { ...serverEnvironment(start.env), ...confined?.env } };
    this.#confined = confined;
  }

  /** True when the server has ended by itself. */
  get hasEnded(): boolean {
    return this.#how !== undefined;
  }

  /** Exit code or signal of a server that ended by itself, and the last lines of its stderr; in one line. */
  get log(): string {
    const lastLines = errorLines(this.#stderr).join(" | ");
    return this.#withoutSecrets([this.#how, lastLines].filter((part) => part).join(": "));
  }

  /** Servers print the key that they refuse. */
  #withoutSecrets(text: string): string {
    return Object.entries(this.#own)
      .filter(([, value]) => value.length >= MIN_SECRET_CHARS)
      .reduce((shown, [name, value]) => shown.replaceAll(value, `\${${name}}`), text);
  }

  async start(): Promise<void> {
    const server = await startGroup(this.#start).catch((error: unknown) => {
      if (!hasCode(error, "ENOENT")) throw error;
      // The system reports a missing folder like a missing program.
      const { command, cwd } = this.#start;
      throw new Error(`its command ${command} was not found (in ${cwd}). Install it, or correct the command`);
    });
    this.#server = server;
    server.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    server.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_CHARS);
    });
    const hasLastLines = new Promise((resolve) => server.stderr.once("close", resolve));
    this.#ended = server.ended.then(async (how) => {
      this.#how = this.#server === server ? how : undefined;
      await new Deadline(LAST_LINES_MS).waitFor(hasLastLines);
    });
    void this.#ended.then(() => this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const server = this.#server;
    if (!server?.stdin.writable) throw new Error("the server has ended");
    const { stdin } = server;
    const isSent = await new Promise<boolean>((resolve) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => resolve(error == null));
    });
    if (isSent) return;
    await new Deadline(END_MS).waitFor(this.#ended); // its exit code says more than the write
    throw new Error("the server has closed its input");
  }

  /** Resolves when no process of the server is left. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    clearTimeout(this.#noting);
    this.#clear();
    const ended = server.end();
    this.onclose?.();
    await ended;
    await this.#confined?.end();
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.#take(chunk.subarray(from, end));
      from = end + 1;
      const line = this.#skipped === undefined ? Buffer.concat(this.#parts).toString("utf8") : this.#refusal();
      this.#clear();
      this.#receive(line);
    }
    this.#take(chunk.subarray(from));
  }

  #take(part: Buffer): void {
    if (this.#skipped !== undefined) {
      this.#skipped.tail = Buffer.concat([this.#skipped.tail, part.subarray(-ID_BYTES)]).subarray(-ID_BYTES);
      return;
    }
    if (part.length > 0) this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes <= MAX_MESSAGE_BYTES) return;
    const text = Buffer.concat(this.#parts);
    this.#skipped = { head: text.toString("latin1", 0, ID_BYTES), tail: text.subarray(-ID_BYTES) };
    this.#parts = [];
  }

  /** Answer in place of a message that was too long, so that its call does not wait for a timeout. */
  #refusal(): string {
    const { head = "", tail = "" } = this.#skipped ?? {};
    const [, id] =
      /^\s*\{"jsonrpc":\s*"2\.0",\s*"id":\s*(\d+)/.exec(head) ?? /"id":\s*(\d+)\s*\}\s*$/.exec(String(tail)) ?? [];
    const message = `the server sent a message of more than ${MAX_MESSAGE_BYTES / 1024 ** 2} MiB; ask for a smaller part`;
    return id === undefined
      ? message
      : JSON.stringify({ jsonrpc: "2.0", id: Number(id), error: { code: -32_600, message } });
  }

  #clear(): void {
    this.#parts = [];
    this.#bytes = 0;
    this.#skipped = undefined;
  }

  /** Drops what is not a message: some servers log to stdout by mistake, without a line feed too. */
  #receive(line: string): void {
    const messages = this.#messagesOf(line);
    this.#noting ??= setTimeout(() => {
      this.#noting = undefined;
      void this.#server?.note();
    }, NOTE_MS).unref();
    for (const each of messages) this.#deliver(each);
    const isNothing = messages.length + this.#open.lines.length === 0 && line.trim() !== "";
    if (isNothing) this.onerror?.(new Error(`not a message: ${line.slice(0, 200)}`));
  }

  /** A message over several lines begins and ends with a bracket that is not indented. Logs over several lines do so, too. */
  #messagesOf(line: string): readonly JSONRPCMessage[] {
    const { lines } = this.#open;
    const isInner = lines.length > 0 && /^\s/.test(line);
    const before = lines.at(-1)?.trimEnd().at(-1) ?? "";
    const isPart = isInner && ("[,:".includes(before) || !/^\s+\{/.test(line)); // a value follows one of these signs
    const own = isPart ? [] : messagesIn(parseJson(line) ?? parseJson(line.slice(line.indexOf("{"))));
    const isStart = /^[{[]\s*$/.test(line);
    if (isStart || own.length > 0) this.#open = { lines: isStart ? [line] : [], chars: 0 };
    const isEnd = /^[}\]]/.test(line);
    if (isStart || own.length > 0 || !(isInner || isEnd)) return own;
    lines.push(line);
    this.#open.chars += line.length;
    if (!isEnd && this.#open.chars <= MAX_MESSAGE_BYTES) return [];
    this.#open = { lines: [], chars: 0 };
    return messagesIn(parseJson(lines.join("\n")));
  }

  /** The library handles a notification in a microtask, and drops the progress of a call whose response came before that. */
  #deliver(message: JSONRPCMessage): void {
    if ("method" in message) this.onmessage?.(message);
    else queueMicrotask(() => this.onmessage?.(message));
  }
}

/** The library checks the fields of a message when it handles the message. Servers forget the version in their answers. */
export function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== "object" || value === null) return false;
  return "jsonrpc" in value || ("id" in value && ("result" in value || "error" in value));
}

/** Older servers answer in lists. */
function messagesIn(value: unknown): readonly JSONRPCMessage[] {
  return [value].flat().filter(isMessage);
}

/**
 * Whole environment of a server: that of a command outside the sandbox, without keys, and its own variables. A server is a
 * program that the user chose, and a short list of variables leaves out proxies, certificates and folders that its
 * download needs. Keys are named in `env`, as `${NAME}`.
 */
export function serverEnvironment(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return commandEnvironment({ withheld: [], passed: env }, undefined);
}

/** The last error of the text with what follows it, else the last lines. */
function errorLines(text: string): readonly string[] {
  const lines = text
    .split("\n")
    .map((line) => line.trim().slice(0, LINE_CHARS))
    .filter((line) => !STACK_LINE.test(line));
  let start = lines.findLastIndex((line) => ERROR_LINE.test(line));
  while (start > 0 && ERROR_LINE.test(lines[start - 1] ?? "")) start -= 1;
  return start < 0 ? lines.slice(-STDERR_LINES) : lines.slice(start, start + STDERR_LINES);
}
