/** Discord's gateway socket: identifies, beats, and resumes where it was cut, so that no event is lost. */
import { setTimeout as delay } from "node:timers/promises";
import WebSocket from "ws";
import * as z from "zod";

const frame = z.object({ op: z.number(), t: z.string().nullish(), s: z.number().nullish(), d: z.unknown() });
const hello = z.object({ heartbeat_interval: z.number() });
const ready = z.object({ session_id: z.string(), resume_gateway_url: z.string() });
const savedSchema = z.object({ id: z.string(), url: z.string(), seq: z.number() });

/** Place in the stream of events. */
export type SocketSession = z.infer<typeof savedSchema>;

const OP = { dispatch: 0, heartbeat: 1, identify: 2, resume: 6, reconnect: 7, invalid: 9, hello: 10, ack: 11 } as const;
/** Messages in servers and direct ones, with their texts. */
const INTENTS = (1 << 9) | (1 << 12) | (1 << 15);
/** Close codes that no new connection cures, and the reason for the user. */
const FATAL: Readonly<Record<number, string>> = {
  4004: "the token is wrong",
  4013: "the intents are wrong",
  4014: "switch on “Message Content Intent” on the bot's page",
};
const MAX_RETRY_MS = 30_000;

export type SocketOptions = {
  readonly token: string;
  /** Address for a new session. Rejects when it cannot be had. */
  readonly address: () => Promise<string>;
  readonly saved: SocketSession | undefined;
  /** Takes an event. The place in the stream moves on once it resolves. */
  readonly dispatch: (type: string, data: unknown) => Promise<void>;
  readonly save: (session: SocketSession) => void;
  readonly log: (line: string) => void;
  readonly fatal: (reason: string) => void;
};

export function readSession(text: string | undefined): SocketSession | undefined {
  return savedSchema.safeParse(text === undefined ? undefined : JSON.parse(text)).data;
}

export class DiscordSocket {
  readonly #options: SocketOptions;
  readonly #ended = new AbortController();
  #session: SocketSession | undefined;
  #socket: WebSocket | undefined;
  #events: Promise<void> = Promise.resolve();

  constructor(options: SocketOptions) {
    this.#options = options;
    this.#session = options.saved;
  }

  /** Connects until the end. Never rejects. */
  async run(): Promise<void> {
    const { log, fatal } = this.#options;
    let pause = 500;
    while (!this.#ended.signal.aborted) {
      const began = Date.now();
      const code = await this.#connect().catch((error: unknown) => String(error));
      if (this.#ended.signal.aborted) return;
      const reason = typeof code === "number" ? FATAL[code] : undefined;
      if (reason !== undefined) return fatal(reason);
      log(`the socket ended (${typeof code === "number" ? code : "no connection"})`);
      pause = Date.now() - began > MAX_RETRY_MS ? 500 : Math.min(pause * 2, MAX_RETRY_MS);
      await delay(pause, undefined, { signal: this.#ended.signal }).catch(() => undefined);
    }
  }

  stop(): void {
    this.#ended.abort();
    this.#socket?.terminate();
  }

  /** Resolves to the close code. */
  async #connect(): Promise<number> {
    const url = this.#session?.url ?? (await this.#options.address());
    const socket = new WebSocket(`${url}${url.endsWith("/") ? "" : "/"}?v=10&encoding=json`);
    this.#socket = socket;
    const beat = new Heartbeat(socket, () => this.#session?.seq ?? null);
    socket.on("message", (data) => {
      const parsed = frame.safeParse(JSON.parse(String(data))).data;
      if (parsed !== undefined) this.#receive(socket, parsed, beat);
    });
    try {
      return await new Promise((resolve, reject) => {
        socket.once("close", resolve);
        socket.once("error", reject);
      });
    } finally {
      beat.stop();
      if (this.#ended.signal.aborted) socket.terminate();
    }
  }

  #receive(socket: WebSocket, { op, t, s, d }: z.infer<typeof frame>, beat: Heartbeat): void {
    switch (op) {
      case OP.hello:
        beat.start(hello.parse(d).heartbeat_interval);
        socket.send(JSON.stringify(this.#greeting()));
        return;
      case OP.heartbeat:
        beat.send();
        return;
      case OP.ack:
        beat.acknowledge();
        return;
      case OP.reconnect:
        socket.close(4_000);
        return;
      case OP.invalid:
        if (d !== true) this.#session = undefined;
        socket.close(4_000);
        return;
      case OP.dispatch:
        this.#events = this.#events.then(() => this.#dispatch(t ?? "", s ?? 0, d));
        return;
      default:
    }
  }

  async #dispatch(type: string, seq: number, data: unknown): Promise<void> {
    if (type === "READY") {
      const { session_id: id, resume_gateway_url: url } = ready.parse(data);
      this.#session = { id, url, seq };
    }
    await this.#options.dispatch(type, data);
    if (this.#session === undefined) return;
    this.#session = { ...this.#session, seq };
    this.#options.save(this.#session);
  }

  #greeting(): object {
    const { token } = this.#options;
    if (this.#session !== undefined) {
      return { op: OP.resume, d: { token, session_id: this.#session.id, seq: this.#session.seq } };
    }
    const properties = { os: process.platform, browser: "hermes", device: "hermes" };
    return { op: OP.identify, d: { token, intents: INTENTS, properties } };
  }
}

/** Beats of one connection. A beat without an answer ends it: a dead socket looks like silence. */
class Heartbeat {
  readonly #socket: WebSocket;
  readonly #seq: () => number | null;
  #timer: NodeJS.Timeout | undefined;
  #isAnswered: boolean = true;

  constructor(socket: WebSocket, seq: () => number | null) {
    this.#socket = socket;
    this.#seq = seq;
  }

  start(everyMs: number): void {
    this.#timer = setInterval(() => {
      if (!this.#isAnswered) this.#socket.terminate();
      else this.send();
      this.#isAnswered = false;
    }, everyMs);
  }

  send(): void {
    if (this.#socket.readyState === WebSocket.OPEN)
      this.#socket.send(JSON.stringify({ op: OP.heartbeat, d: this.#seq() }));
  }

  acknowledge(): void {
    this.#isAnswered = true;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
