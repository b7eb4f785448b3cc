/** Server of the agent: WebSocket and streamable HTTP on one path, HTTP/2 with TLS; health and metrics beside it. */
import { readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createSecureServer, type Http2SecureServer } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  createNodeHttpHandler,
  createNodeWebSocketUpgradeHandler,
} from "@zed-industries/agent-client-protocol/experimental/node";
import { AcpServer } from "@zed-industries/agent-client-protocol/experimental/server";
import { type WebSocket, WebSocketServer } from "ws";
import { messageOf } from "../platform/errors.ts";
import { SERVE_PATH } from "../protocol/remote.ts";
import { Guard, type GuardOptions, type Refusal } from "./guard.ts";
import type { SessionHub } from "./session-hub.ts";

/** Limit of a message, as over stdio. Bytes. */
const MAX_MESSAGE_BYTES = 32_000_000;
/** A connection that misses two pings ends. Milliseconds. */
const PING_MS = 20_000;
/** Limits for the head and the body of a request, against clients that send them byte by byte. Milliseconds. */
const HEAD_MS = 10_000;
const BODY_MS = 60_000;
/** An HTTP client without a reading request for this time has gone. Milliseconds. */
const UNREAD_MS = 60_000;
/** The files of the certificate are compared with those in use. Milliseconds. */
const CERTIFICATE_MS = 60_000;
/** Sockets beside those of the connections: a streamable HTTP client has several. */
const SOCKETS_PER_CONNECTION = 8;
const CONNECTION_ID = "acp-connection-id";

export type TlsFiles = { readonly cert: string; readonly key: string };

export type SocketServerOptions = Omit<GuardOptions, "now"> & {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Undefined: plain HTTP. */
  readonly tls: TlsFiles | undefined;
  readonly maxConnections: number;
  /** One line for the log, without secrets. */
  readonly log: (line: string) => void;
};

type AnyServer = Server | Http2SecureServer;

export class SocketServer {
  readonly #hub: SessionHub;
  readonly #options: SocketServerOptions;
  readonly #guard: Guard;
  readonly #acp: AcpServer;
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  readonly #server: AnyServer;
  readonly #open = new Set<Socket>();
  readonly #timers: NodeJS.Timeout[] = [];
  /** Ends an HTTP connection that nobody reads, by its id. */
  readonly #unread = new Map<string, NodeJS.Timeout>();
  readonly #refused = new Map<number, number>();
  #isDraining: boolean = false;

  /** Throws an Error in one line when the certificate cannot be used. */
  constructor(hub: SessionHub, options: SocketServerOptions) {
    this.#hub = hub;
    this.#options = options;
    this.#guard = new Guard({ ...options, now: () => performance.now() });
    this.#acp = new AcpServer({ agent: { connect: (stream) => hub.connect(stream) } });
    this.#server = this.#createServer(options.tls, this.#onRequest());
    this.#server.maxConnections = options.maxConnections * SOCKETS_PER_CONNECTION;
    this.#server.on("upgrade", this.#onUpgrade());
    this.#server.on("connection", (socket: Socket) => {
      socket.setKeepAlive(true, PING_MS);
      this.#open.add(socket);
      socket.once("close", () => this.#open.delete(socket));
    });
    this.#timers.push(setInterval(() => this.#ping(), PING_MS).unref());
  }

  /** Resolves to the port. Rejects with the system's error. */
  listen(): Promise<number> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => resolve((this.#server.address() as AddressInfo).port)); // not a pipe
    });
  }

  /** Takes no new connections, and says so to load balancers. */
  drain(): void {
    this.#isDraining = true;
  }

  async close(): Promise<void> {
    for (const timer of [...this.#timers, ...this.#unread.values()]) clearTimeout(timer);
    await this.#acp.close();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#open) socket.destroy();
    await closed;
  }

  #createServer(tls: TlsFiles | undefined, listener: RequestListener): AnyServer {
    const limits = { headersTimeout: HEAD_MS, requestTimeout: BODY_MS, connectionsCheckingInterval: HEAD_MS };
    if (tls === undefined) return createServer(limits, listener);
    const read = () => ({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) });
    const server = createSecureServer({ ...limits, ...read(), allowHTTP1: true }, (request, response) => {
      // The library's handler takes the classes of HTTP/1, and refuses the names of HTTP/2 that begin with a colon.
      const plain = Object.entries(request.headers).filter(([name]) => !name.startsWith(":"));
      const value = { host: request.authority, ...Object.fromEntries(plain) };
      Object.defineProperty(request, "headers", { value });
      listener(request as unknown as IncomingMessage, response as unknown as ServerResponse & { req: IncomingMessage });
    });
    let changed = changeOf(tls);
    const renew = (): void => {
      if (changeOf(tls) === changed) return;
      changed = changeOf(tls);
      try {
        server.setSecureContext(read());
        this.#options.log("serve: the renewed certificate is in use");
      } catch (error) {
        this.#options.log(`serve: the changed certificate is not used: ${messageOf(error)}`);
      }
    };
    this.#timers.push(setInterval(renew, CERTIFICATE_MS).unref());
    return server;
  }

  #onRequest(): RequestListener {
    const handle = createNodeHttpHandler(this.#acp, { maxRequestBodyBytes: MAX_MESSAGE_BYTES });
    return (request, response) => {
      const path = pathOf(request);
      const isOpen = path === "/healthz" || path === "/readyz";
      const refusal = isOpen ? this.#guard.checkPlace(request) : this.#refusalOf(request);
      if (refusal !== undefined) this.#refuse(response, refusal);
      else if (path !== SERVE_PATH) reply(response, ...this.#page(path));
      else if (this.#watchReader(request, response)) handle(request, response);
      else reply(response, 503, FULL);
    };
  }

  #page(path: string): [status: number, text: string] {
    switch (path) {
      case "/healthz":
        return [200, "ok\n"];
      case "/readyz":
        return this.#isDraining ? [503, "draining\n"] : [200, "ready\n"];
      case "/metrics":
        return [200, metricsText(this.#hub, this.#refused)];
      default:
        return [404, "Not found.\n"];
    }
  }

  #onUpgrade(): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
    const upgrade = createNodeWebSocketUpgradeHandler(this.#acp, this.#sockets);
    return (request, socket, head) => {
      socket.on("error", () => socket.destroy());
      const refusal = this.#refusalOf(request);
      if (refusal !== undefined) {
        this.#count(refusal.status);
        return refuseUpgrade(socket, refusal.status, refusal.reason);
      }
      if (pathOf(request) !== SERVE_PATH) return refuseUpgrade(socket, 404, "Not found.");
      if (!this.#hasRoom) return refuseUpgrade(socket, 503, FULL);
      upgrade(request, socket, head);
    };
  }

  get #hasRoom(): boolean {
    return !this.#isDraining && this.#hub.connections < this.#options.maxConnections;
  }

  #refusalOf(request: IncomingMessage): Refusal | undefined {
    try {
      return this.#guard.check(request);
    } catch (error) {
      this.#options.log(`serve: the token cannot be read: ${messageOf(error)}`);
      return { status: 403, reason: "The server cannot read its token. Its log has the reason." };
    }
  }

  #refuse(response: ServerResponse, { status, reason }: Refusal): void {
    this.#count(status);
    reply(response, status, `${reason}\n`);
  }

  #count(status: number): void {
    this.#refused.set(status, (this.#refused.get(status) ?? 0) + 1);
  }

  /** Ends an HTTP connection whose reading requests have all ended. False for a new connection without room. */
  #watchReader(request: IncomingMessage, response: ServerResponse): boolean {
    const { [CONNECTION_ID]: known, ...headers } = request.headers;
    if (typeof known !== "string") {
      if (!this.#hasRoom) return false;
      response.once("finish", () => this.#awaitReader(String(response.getHeader(CONNECTION_ID) ?? ""), headers));
      return true;
    }
    if (request.method !== "GET") return true;
    clearTimeout(this.#unread.get(known));
    response.once("close", () => this.#awaitReader(known, headers));
    return true;
  }

  #awaitReader(id: string, headers: IncomingMessage["headers"]): void {
    if (id === "") return;
    clearTimeout(this.#unread.get(id));
    const end = (): void => {
      this.#unread.delete(id);
      const url = `http://${headers.host}${SERVE_PATH}`;
      void this.#acp.handleRequest(new Request(url, { method: "DELETE", headers: { [CONNECTION_ID]: id } }));
    };
    this.#unread.set(id, setTimeout(end, UNREAD_MS));
  }

  #ping(): void {
    for (const socket of this.#sockets.clients) {
      const missed = missedPings.get(socket);
      if (missed === undefined) socket.on("pong", () => missedPings.set(socket, 0));
      missedPings.set(socket, (missed ?? 0) + 1);
      if (missed === 2) socket.terminate();
      else socket.ping();
    }
  }
}

const FULL = "The server has no room for another connection. Close one, or start it with a larger --max-connections.";

/** Pings without an answer. */
const missedPings = new WeakMap<WebSocket, number>();

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "";
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" });
  response.end(text);
}

function refuseUpgrade(socket: Duplex, status: number, reason: string): void {
  const body = `${reason}\n`;
  const head = [`HTTP/1.1 ${status} Refused`, "Content-Type: text/plain", `Content-Length: ${Buffer.byteLength(body)}`];
  socket.end([...head, "Connection: close", "", body].join("\r\n"));
}

function changeOf({ cert, key }: TlsFiles): number {
  const times = [cert, key].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Math.max(...times);
}

/** Text format of Prometheus. `refused`: refused requests by their status. */
function metricsText(hub: SessionHub, refused: ReadonlyMap<number, number>): string {
  const { sessions, connections, counts } = hub;
  const gauges = {
    connections,
    sessions: sessions.length,
    sessions_held: sessions.filter(({ holder }) => holder !== undefined).length,
    turns_running: sessions.filter(({ isRunning }) => isRunning).length,
    resident_bytes: process.memoryUsage.rss(),
  };
  const totals = {
    prompts_total: counts.prompts,
    messages_received_total: counts.received,
    messages_sent_total: counts.sent,
  };
  const lines = (type: string, values: Readonly<Record<string, number>>): readonly string[] =>
    Object.entries(values).flatMap(([name, value]) => [
      `# TYPE hermes_serve_${name} ${type}`,
      `hermes_serve_${name} ${value}`,
    ]);
  const refusals = [...refused].map(([status, count]) => `hermes_serve_refused_total{status="${status}"} ${count}`);
  const all = [...lines("gauge", gauges), ...lines("counter", totals), "# TYPE hermes_serve_refused_total counter"];
  return `${[...all, ...refusals].join("\n")}\n`;
}
