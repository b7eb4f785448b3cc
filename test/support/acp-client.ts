/** Base of the clients that drive the agent in tests: raw JSON-RPC messages, and none of our own client's code. */
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Json = { readonly [key: string]: unknown };
export type Reply = {
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
};
type Handler = (params: Json) => unknown;
type Message = { readonly id?: number | null; readonly method?: string; readonly params?: Json } & Reply;

export abstract class AcpClient {
  /** Workspace, with one file: a.txt. */
  readonly cwd = temporaryFolder("hermes-acp-");
  readonly home: string;
  /** Every update in order. */
  readonly updates: Json[] = [];
  /** Methods of every notification in order. */
  readonly notifications: string[] = [];
  readonly #waiting = new Map<number | null, (reply: Reply) => void>();
  readonly #handlers = new Map<string, Handler>();
  readonly #notified: { readonly method: string; readonly params: Json }[] = [];
  #nextId = 1;
  #updated = Promise.withResolvers<void>();

  /** `home`: HERMES_HOME; default: a new one. */
  constructor(home: string = temporaryFolder("hermes-acp-home-")) {
    this.home = home;
    writeFileSync(join(this.cwd, "a.txt"), "one\ntwo\nthree\n");
  }

  /** Sends the messages together. */
  protected abstract send(...messages: readonly object[]): void;

  /** Closes the connection and resolves once the agent has ended. */
  abstract stop(): Promise<void>;

  /** Answers a request of the agent; with the error that `handler` throws, an object with `code` and `message`. */
  on(method: string, handler: Handler): this {
    this.#handlers.set(method, handler);
    return this;
  }

  request(method: string, params: unknown): Promise<Reply> {
    const id = this.#nextId++;
    const reply = this.replyTo(id);
    this.send({ jsonrpc: "2.0", id, method, params });
    return reply;
  }

  /** Sends a request and, in the same write, a notification; default: the request's cancellation. */
  requestAndNotify(
    method: string,
    params: unknown,
    notification: { readonly method: string; readonly params: unknown } = {
      method: "$/cancel_request",
      params: { requestId: this.#nextId },
    },
  ): Promise<Reply> {
    const id = this.#nextId++;
    const reply = this.replyTo(id);
    this.send({ jsonrpc: "2.0", id, method, params }, { jsonrpc: "2.0", ...notification });
    return reply;
  }

  notify(method: string, params: unknown): void {
    this.send({ jsonrpc: "2.0", method, params });
  }

  replyTo(id: number | null): Promise<Reply> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async initialize(clientCapabilities: Json = {}): Promise<Json> {
    const { result } = await this.request("initialize", { protocolVersion: 1, clientCapabilities });
    return result ?? {};
  }

  async newSession(): Promise<string> {
    const { result } = await this.request("session/new", { cwd: this.cwd, mcpServers: [] });
    return String(result?.["sessionId"]);
  }

  prompt(sessionId: string, text: string): Promise<Reply> {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** Resolves when the next update has arrived. */
  nextUpdate(): Promise<void> {
    return this.#updated.promise;
  }

  /** Parameters of every notification of one method, in order. */
  notified(method: string): Json[] {
    return this.#notified.filter((one) => one.method === method).map(({ params }) => params);
  }

  /** Updates of one kind. */
  of(kind: string): Json[] {
    return this.updates.filter((update) => update["sessionUpdate"] === kind);
  }

  text(): string {
    return this.of("agent_message_chunk")
      .map((update) => (update["content"] as { text: string }).text)
      .join("");
  }

  protected receive(message: Message): void {
    if (message.method === undefined) {
      this.#waiting.get(message.id ?? null)?.(message);
    } else if (message.id === undefined) {
      this.notifications.push(message.method);
      this.#notified.push({ method: message.method, params: message.params ?? {} });
      if (message.method === "session/update") this.#update(message.params?.["update"] as Json);
    } else {
      void this.#answer(message.id, message.method, message.params ?? {});
    }
  }

  #update(update: Json): void {
    this.updates.push(update);
    const { resolve } = this.#updated;
    this.#updated = Promise.withResolvers<void>();
    resolve();
  }

  async #answer(id: number | null, method: string, params: Json): Promise<void> {
    const handler = this.#handlers.get(method);
    const answer = new Promise((resolve, reject) => {
      if (handler) resolve(handler(params));
      else reject({ code: -32601, message: `no ${method} here` });
    });
    const outcome = await answer.then(
      (result) => ({ result: result ?? {} }),
      (error: unknown) => ({ error }),
    );
    this.send({ jsonrpc: "2.0", id, ...outcome });
  }
}

export function temporaryFolder(prefix: string): string {
  return realpathSync(mkdtempSync(join(tmpdir(), prefix)));
}
