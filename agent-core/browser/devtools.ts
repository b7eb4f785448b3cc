/**
 * Client of the DevTools protocol over two pipes of the browser's process. A debugging port would be open to every program
 * of this machine, and with it the files of this user.
 */
import type { Readable, Writable } from "node:stream";
import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.js";

type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;
export type CommandName = keyof Commands;
export type EventName = keyof Events;
export type CommandParams<Name extends CommandName> = Commands[Name]["paramsType"][0];
export type CommandResult<Name extends CommandName> = Commands[Name]["returnType"];
export type EventParams<Name extends EventName> = Events[Name][0];

/** Messages end with this byte. */
const END = 0;
/** A longer message is dropped: a hostile page would fill the memory with its tree. Bytes. */
const MAX_MESSAGE_BYTES = 128 * 1024 ** 2;
/** Timeout of a command. A page that is busy for longer does not respond to people either. Milliseconds. */
const COMMAND_MS = 15_000;

/** The browser is no longer usable. */
export class Lost extends Error {}

/** The page or the browser did not answer in time. */
export class Unresponsive extends Lost {}

type Pending = { resolve(result: unknown): void; reject(error: Error): void };
type Listener = (params: never) => void;
type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly data?: string };
};

export type SendOptions = {
  /** Session of a page; default: the browser itself. */
  readonly session?: string | undefined;
  /** Milliseconds. */
  readonly timeoutMs?: number | undefined;
};

export class DevTools {
  readonly #input: Writable;
  readonly #pending = new Map<number, Pending>();
  /** By session and event. */
  readonly #listeners = new Map<string, Map<string, Listener>>();
  #count = 0;
  /** Parts of a message that has not ended. */
  #parts: Buffer[] = [];
  #bytes = 0;
  #closed: Error | undefined;

  constructor(input: Writable, output: Readable) {
    this.#input = input;
    input.on("error", () => undefined); // the end of the output follows
    output.on("error", () => undefined);
    output.on("data", (chunk: Buffer) => this.#read(chunk));
    output.once("close", () => this.close(new Lost("the browser has ended")));
  }

  /** Rejects with the browser's message, with `Unresponsive` after the timeout, and after the end of the browser. */
  send<Name extends CommandName>(
    method: Name,
    params?: CommandParams<Name>,
    { session, timeoutMs = COMMAND_MS }: SendOptions = {},
  ): Promise<CommandResult<Name>> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    this.#count += 1;
    const id = this.#count;
    return new Promise<CommandResult<Name>>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new Unresponsive(`the page does not respond: no answer to ${method} within ${timeoutMs / 1_000} s`));
      }, timeoutMs);
      this.#pending.set(id, {
        resolve: (result) => {
          clearTimeout(timer);
          resolve(result as CommandResult<Name>); // the protocol's own types
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      const sessionId = session === undefined ? {} : { sessionId: session };
      this.#input.write(`${JSON.stringify({ id, method, params: params ?? {}, ...sessionId })}\0`);
    });
  }

  /** Calls the listener for each such event of a page, or of the browser itself without a session. */
  on<Name extends EventName>(event: Name, listener: (params: EventParams<Name>) => void, session = ""): void {
    const listeners = this.#listeners.get(session) ?? new Map<string, Listener>();
    listeners.set(event, listener as Listener);
    this.#listeners.set(session, listeners);
  }

  /** Removes the listeners of a closed page. */
  forget(session: string): void {
    this.#listeners.delete(session);
  }

  /** Rejects all running and later commands with `reason`. */
  close(reason: Error): void {
    this.#closed ??= reason;
    for (const { reject } of this.#pending.values()) reject(this.#closed);
    this.#pending.clear();
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(END); end !== -1; end = chunk.indexOf(END, from)) {
      this.#add(chunk.subarray(from, end));
      from = end + 1;
      this.#finish();
    }
    this.#add(chunk.subarray(from));
  }

  /** Keeps the part of a message. Of a message that is too long, only the start stays. */
  #add(part: Buffer): void {
    if (part.length === 0) return;
    this.#bytes += part.length;
    if (this.#bytes <= MAX_MESSAGE_BYTES) this.#parts.push(part);
    else this.#parts.splice(1);
  }

  #finish(): void {
    const isWhole = this.#bytes <= MAX_MESSAGE_BYTES;
    const text = Buffer.concat(this.#parts).toString("utf8");
    this.#parts = [];
    this.#bytes = 0;
    if (isWhole) this.#receive(JSON.parse(text));
    else this.#reject(Number(/^\{"id":(\d+)/.exec(text)?.[1]), "the answer is too large");
  }

  #receive({ id, method, params, sessionId, result, error }: Message): void {
    if (id === undefined) {
      this.#listeners.get(sessionId ?? "")?.get(method ?? "")?.(params as never); // the protocol's own types
    } else if (error !== undefined) {
      this.#reject(id, [error.message, error.data].filter((part) => part).join(": "));
    } else {
      this.#pending.get(id)?.resolve(result);
      this.#pending.delete(id);
    }
  }

  #reject(id: number, message: string): void {
    this.#pending.get(id)?.reject(new Error(message));
    this.#pending.delete(id);
  }
}
