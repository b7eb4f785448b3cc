/** A chat platform as its people see it: messages in order, with their buttons. The servers behind it speak the real APIs. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Shown = {
  readonly id: string;
  readonly chat: string;
  readonly text: string;
  readonly buttons: readonly { readonly label: string; readonly data: string }[];
  /** Name of a file that was sent. */
  readonly file?: string;
};

export type Written = {
  readonly chat?: string;
  readonly user?: string;
  readonly name?: string;
  readonly isGroup?: boolean;
  /** Id of the event; a known one is a repeat. */
  readonly event?: number;
  /** Seconds since 1970. */
  readonly date?: number;
  readonly file?: {
    readonly name: string;
    readonly type: string;
    readonly bytes: Uint8Array;
    readonly kind: "image" | "voice" | "file";
  };
  readonly quoted?: string;
  readonly forwarded?: boolean;
};

/** Part of a token: a token serves one gateway of a machine, on which other tests may run. */
export const UNIQUE = `${process.pid}-${Math.random().toString(36).slice(2, 10)}`;

/** Answer to one request in place of the usual one. `drop`: done, but the connection ends before the answer. */
export type Fault =
  | { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> }
  | "drop"
  | "cut";

export abstract class FakePlatform {
  /** Messages of the bot as they are shown now, in order of their first appearance. */
  readonly shown: Shown[] = [];
  /** Names of all API calls, in order. */
  readonly calls: string[] = [];
  /** Longest wait for a message. Milliseconds. */
  untilMs = 30_000;
  readonly #faults: { readonly call: RegExp; readonly fault: Fault }[] = [];
  readonly #server: Server;
  #count = 1_000;
  #changed = Promise.withResolvers<void>();

  constructor() {
    this.#server = createServer((request, response) => {
      this.handle(request, response).catch((error: unknown) => {
        if (!response.headersSent) respond(response, 500, { error: String(error) });
      });
    });
  }

  /** Variables that lead the gateway here. */
  abstract readonly variables: Readonly<Record<string, string>>;
  /** Name in config.yaml, and its part of `platforms`. */
  abstract readonly name: string;
  abstract readonly section: Readonly<Record<string, unknown>>;
  /** Messages can be edited. */
  readonly edits: boolean = true;
  /** A person writes. */
  abstract write(text: string, written?: Written): void;
  /** A person presses a button of the bot. */
  abstract press(message: Shown, label: string, user?: string): void;
  protected abstract handle(request: IncomingMessage, response: ServerResponse): Promise<void>;

  get root(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  protected get server(): Server {
    return this.#server;
  }

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return this;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** The next call with this name fails. */
  fail(call: RegExp, ...faults: readonly Fault[]): void {
    for (const fault of faults) this.#faults.push({ call, fault });
  }

  /** Texts of the bot in a chat, in order. */
  texts(chat?: string): readonly string[] {
    return this.shown
      .filter((one) => chat === undefined || one.chat === chat)
      .map(({ text, file }) => (file === undefined ? text : `[${file}]`));
  }

  /** Waits for a message of the bot whose text matches, among those from the index `from`. */
  async until(pattern: RegExp | string, from = 0): Promise<Shown> {
    const matches = ({ text, file }: Shown): boolean =>
      typeof pattern === "string" ? text === pattern : pattern.test(file ?? text);
    const late = AbortSignal.timeout(this.untilMs);
    const isLate = new Promise((resolve) => late.addEventListener("abort", resolve, { once: true }));
    for (;;) {
      const found = this.shown.slice(from).find(matches);
      if (found !== undefined) return found;
      if (late.aborted) throw new Error(`${pattern} did not come. There is: ${JSON.stringify(this.texts().slice(-8))}`);
      await Promise.race([this.#changed.promise, isLate]);
    }
  }

  protected newId(): number {
    this.#count += 1;
    return this.#count;
  }

  protected put(message: Shown): void {
    const at = this.shown.findIndex(({ id, chat }) => id === message.id && chat === message.chat);
    if (at < 0) this.shown.push(message);
    else this.shown[at] = message;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  /** Records a call, and gives its fault. */
  protected call(name: string): Fault | undefined {
    this.calls.push(name);
    const at = this.#faults.findIndex(({ call }) => call.test(name));
    return at < 0 ? undefined : this.#faults.splice(at, 1)[0]?.fault;
  }
}

export function respond(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** Answers as the fault says. `done` does the work. Returns false without a fault. */
export function respondFault(response: ServerResponse, fault: Fault | undefined, done: () => void): boolean {
  if (fault === undefined) return false;
  if (fault === "drop") done();
  if (typeof fault === "string") response.destroy();
  else respond(response, fault.status, fault.body, fault.headers);
  return true;
}

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Fields of a JSON, form or multipart body; a file's field has its name. */
export async function fieldsOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const body = await bodyOf(request);
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("multipart/form-data")) {
    const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
    return Object.fromEntries([...form].map(([key, value]) => [key, typeof value === "string" ? value : value.name]));
  }
  if (type.startsWith("application/x-www-form-urlencoded"))
    return Object.fromEntries(new URLSearchParams(body.toString()));
  return body.length === 0 ? {} : JSON.parse(body.toString());
}
