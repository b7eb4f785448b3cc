/** `node dist/acp.js` as a foreign editor drives it: raw JSON-RPC lines, nothing of our own client. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export type Json = { readonly [key: string]: unknown };
export type Reply = {
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
};
type Handler = (params: Json) => unknown;

export class AcpProcess {
  readonly cwd = realpathSync(mkdtempSync(join(tmpdir(), "hermes-acp-")));
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), "hermes-acp-home-")));
  /** Every update in order. */
  readonly updates: Json[] = [];
  /** Methods of every notification in order. */
  readonly notifications: string[] = [];
  /** Lines of stdout that were no JSON; must stay empty. */
  readonly strayLines: string[] = [];
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  readonly #waiting = new Map<number | null, (reply: Reply) => void>();
  readonly #handlers = new Map<string, Handler>();
  readonly #notified: { readonly method: string; readonly params: Json }[] = [];
  #nextId = 1;
  #updated = Promise.withResolvers<void>();

  /** `user`: number of the user and group that it runs as; default: the test's own. */
  constructor(environment: Readonly<Record<string, string>> = {}, home?: string, user?: number) {
    if (home !== undefined) this.home = home;
    writeFileSync(join(this.cwd, "a.txt"), "one\ntwo\nthree\n");
    this.child = spawn("node", ["dist/acp.js"], {
      env: {
        PATH: process.env["PATH"],
        TMPDIR: tmpdir(),
        HOME: this.home,
        HERMES_HOME: this.home,
        HERMES_LOCAL_SERVERS: "off",
        ...environment,
      },
      stdio: ["pipe", "pipe", "pipe"],
      ...(user !== undefined && { uid: user, gid: user }),
    });
    this.exited = new Promise((resolve) => this.child.once("exit", resolve));
    createInterface({ input: this.child.stdout! }).on("line", (line) => this.#receive(line));
  }

  /** Answers a request of the agent. */
  on(method: string, handler: Handler): this {
    this.#handlers.set(method, handler);
    return this;
  }

  request(method: string, params: unknown): Promise<Reply> {
    const id = this.#nextId++;
    const reply = this.replyTo(id);
    this.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return reply;
  }

  notify(method: string, params: unknown): void {
    this.write(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`);
  }

  replyTo(id: number | null): Promise<Reply> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  write(text: string): void {
    this.child.stdin!.write(text);
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

  /** Settles when the next update has arrived. */
  nextUpdate(): Promise<void> {
    return this.#updated.promise;
  }

  /** What was said by every notification of one method, in order. */
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

  async stop(): Promise<void> {
    this.child.stdin!.end();
    await this.exited;
  }

  #receive(line: string): void {
    let message: { id?: number | null; method?: string; params?: Json } & Reply;
    try {
      message = JSON.parse(line);
    } catch {
      this.strayLines.push(line);
      return;
    }
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
    const outcome = handler
      ? { result: (await handler(params)) ?? {} }
      : { error: { code: -32601, message: `no ${method} here` } };
    this.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`);
  }
}
