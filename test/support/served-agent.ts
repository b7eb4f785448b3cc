/** The agent behind sockets in the test's own process, and clients that reach it over the wire. */
import { once } from "node:events";
import { connect as connectTo, createServer, type Socket } from "node:net";
import type { AnyMessage, Stream } from "@zed-industries/agent-client-protocol";
import { createWebSocketStream } from "@zed-industries/agent-client-protocol/experimental/ws-client";
import { WebSocket } from "ws";
import { nodeHost } from "../../agent-core/host/node-host.ts";
import { remoteStream, remoteUrl } from "../../agent-core/protocol/remote-stream.ts";
import { Roots } from "../../agent-core/serve/roots.ts";
import { SessionHub } from "../../agent-core/serve/session-hub.ts";
import { SocketServer, type SocketServerOptions } from "../../agent-core/serve/socket-server.ts";
import { AcpClient, temporaryFolder } from "./acp-client.ts";

export const TOKEN = "a-token-of-the-tests";

type ServedOptions = Partial<SocketServerOptions> & {
  readonly graceMs?: number;
  readonly unloadMs?: number;
  readonly roots?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly home?: string;
};

export type ServedAgent = {
  readonly port: number;
  readonly home: string;
  readonly hub: SessionHub;
  readonly server: SocketServer;
  readonly log: readonly string[];
  stop(): Promise<void>;
};

export async function serveAgent(options: ServedOptions = {}): Promise<ServedAgent> {
  const home = options.home ?? temporaryFolder("hermes-served-");
  process.env["HOME"] = home;
  const log: string[] = [];
  const environment = {
    PATH: process.env["PATH"],
    HERMES_HOME: home,
    HERMES_LOCAL_SERVERS: "off",
    ...options.environment,
  };
  const hub = new SessionHub({
    agent: { version: "0.0.0-test", environment, local: nodeHost(), log: () => undefined },
    machine: "build-server",
    roots: new Roots(options.roots ?? []),
    graceMs: options.graceMs ?? 60_000,
    unloadMs: options.unloadMs ?? 60_000,
  });
  const server = new SocketServer(hub, {
    host: "127.0.0.1",
    port: 0,
    tls: undefined,
    token: () => TOKEN,
    origins: [],
    isOwnName: () => false,
    trustsProxy: false,
    maxConnections: 64,
    log: (line) => log.push(line),
    ...options,
  });
  const port = await server.listen();
  const stop = async (): Promise<void> => {
    await hub.drain(5_000);
    await server.close();
  };
  return { port, home, hub, server, log, stop };
}

/** A client over a stream: by default the one of our own clients, which connects again by itself. */
export class ServedClient extends AcpClient {
  readonly #writer: WritableStreamDefaultWriter<AnyMessage>;
  /** States of the connection, in order. */
  readonly states: string[] = [];
  /** Settles when the stream ends; with its error. */
  readonly ended: Promise<Error | undefined>;
  #onState = (): void => undefined;

  constructor(
    port: number,
    { scheme = "ws", token = TOKEN, stream }: { scheme?: "ws" | "http"; token?: string; stream?: Stream } = {},
  ) {
    super();
    const url = remoteUrl(`${scheme}://127.0.0.1:${port}`);
    const changed = ({ state }: { readonly state: string }): void => {
      this.states.push(state);
      this.#onState();
    };
    const { readable, writable } = stream ?? remoteStream({ url, token }, { changed });
    this.#writer = writable.getWriter();
    const read = async (): Promise<undefined> => {
      for await (const message of readable) this.receive(JSON.parse(JSON.stringify(message)));
      return undefined;
    };
    this.ended = read().catch((error: Error) => error);
  }

  /** Resolves when the connection has come to this state. */
  async reached(state: "lost" | "connected", count = 1): Promise<void> {
    while (this.states.filter((one) => one === state).length < count) {
      await new Promise<void>((resolve) => {
        this.#onState = resolve;
      });
    }
  }

  protected override send(...messages: readonly object[]): void {
    for (const message of messages) this.#writer.write(JSON.parse(JSON.stringify(message))).catch(() => undefined);
  }

  async stop(): Promise<void> {
    await this.#writer.close().catch(() => undefined);
    await this.ended;
  }
}

/** The library's own stream, which adds nothing to the messages. */
export function rawStream(port: number): Stream {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  return createWebSocketStream(`ws://127.0.0.1:${port}/acp`, { headers, WebSocket });
}

/** A wire that a test cuts: a TCP proxy before the server. */
export type Wire = { readonly port: number; cut(): void; stop(): Promise<void> };

/** `cutAfterBytes`: limit of the next connection; undefined: none. `passed` is called with the bytes that pass. */
export async function wireTo(
  port: number,
  cutAfterBytes?: () => number | undefined,
  passed?: (bytes: number) => void,
): Promise<Wire> {
  const open = new Set<Socket>();
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const proxy = createServer((client) => {
    const server = connectTo(port, "127.0.0.1");
    let bytes = 0;
    const limit = cutAfterBytes?.();
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      open.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
      from.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        passed?.(chunk.length);
        if (limit !== undefined && bytes > limit) {
          to.write(chunk.subarray(0, chunk.length - (bytes - limit)));
          from.destroy();
          to.end();
        } else to.write(chunk);
      });
    }
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = proxy.address();
  const own = typeof address === "object" && address !== null ? address.port : 0;
  const stop = async (): Promise<void> => {
    cut();
    await new Promise((resolve) => proxy.close(resolve));
  };
  return { port: own, cut, stop };
}
