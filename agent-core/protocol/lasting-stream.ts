/**
 * A client's stream to an agent behind sockets that outlives its connections. After a loss it connects again, resumes the
 * sessions after the last notification that arrived, and repeats the requests without a response, which the server runs once.
 */
import { setTimeout as delay } from "node:timers/promises";
import {
  type AnyMessage,
  type AnyNotification,
  type AnyRequest,
  type AnyResponse,
  methods,
  type Stream,
} from "@zed-industries/agent-client-protocol";
import { attempt } from "../platform/errors.ts";
import { newId } from "../platform/new-id.ts";
import { readMeta } from "./method.ts";
import {
  fieldsOf,
  HermesResumedMeta,
  HermesSequenceMeta,
  HermesServerMeta,
  pingMethod,
  sessionOf,
  withMeta,
} from "./remote.ts";

/** Time without a message after which the server is asked for a sign of life. Two missed end the connection. Milliseconds. */
const PING_MS = 20_000;
/** Wait before the first new connection, doubled with each failure up to the longest. Milliseconds. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
/** A session that was loaded again has numbers of another range. */
export const NUMBERS_PER_OPENING = 2 ** 32;
/** Answers that are kept for a server that asks again. */
const KEPT_ANSWERS = 1_000;

const RESTARTED =
  "The server has restarted, and this turn ended with it. The conversation is stored up to its last complete step. Send a message to go on.";

export type ConnectionState =
  | { readonly state: "connected" }
  /** `reason` in one line; the next attempt follows by itself. */
  | { readonly state: "lost"; readonly reason: string };

export type LastingStreamOptions = {
  /** Opens a connection. Its stream fails when the server cannot be reached. */
  readonly open: () => Stream;
  /** Reason of a failed connection in one line. `isRefused`: the server does not take the token. */
  readonly explain: (error: unknown) => Promise<{ readonly reason: string; readonly isRefused: boolean }>;
} & LastingStreamEvents;

export type LastingStreamEvents = {
  /** Ends the stream, also while a connection of ACP reads and writes it. */
  readonly signal?: AbortSignal;
  /** Called after a loss and after the new connection. */
  readonly changed?: (state: ConnectionState) => void;
  /** Called when the first connection has failed. */
  readonly failed?: (reason: string, isRefused: boolean) => void;
};

/** The first connection is not repeated: the stream fails with its reason. */
export function lastingStream(options: LastingStreamOptions): Stream {
  return new LastingStream(options).stream;
}

/** Folders and last number of a session. */
type OpenSession = { readonly place: Readonly<Record<string, unknown>>; after: number | undefined };

type Connection = {
  readonly writer: WritableStreamDefaultWriter<AnyMessage>;
  readonly reader: ReadableStreamDefaultReader<AnyMessage>;
};

class LastingStream {
  readonly stream: Stream;
  readonly #options: LastingStreamOptions;
  readonly #sessions = new Map<string, OpenSession>();
  /** Requests of the client without a response, in order. */
  readonly #unanswered = new Map<AnyRequest["id"], AnyRequest>();
  /** Requests of this class. */
  readonly #own = new Map<AnyRequest["id"], (response: AnyResponse) => void>();
  /** Requests of the server, with the client's answer. */
  readonly #asked = new Map<AnyRequest["id"], AnyResponse | undefined>();
  /** Notifications of the client that wait for a connection. */
  readonly #backlog: AnyNotification[] = [];
  #initialize: AnyRequest | undefined;
  /** The first server answered, and its sessions outlive connections. */
  #isLasting: boolean = false;
  #connection: Connection | undefined;
  /** The connection takes the client's messages. */
  #isReady: boolean = false;
  #isEnded: boolean = false;
  #heardAt = 0;
  #received: ReadableStreamDefaultController<AnyMessage> | undefined;
  readonly #ending = new AbortController();

  constructor(options: LastingStreamOptions) {
    this.#options = options;
    options.signal?.addEventListener("abort", () => this.#end(), { once: true });
    this.stream = {
      readable: new ReadableStream({
        start: (controller) => {
          this.#received = controller;
        },
        cancel: () => this.#end(),
      }),
      writable: new WritableStream({
        write: (message) => this.#send(message),
        close: () => this.#end(),
        abort: () => this.#end(),
      }),
    };
  }

  #send(message: AnyMessage): void {
    if (!("method" in message)) {
      this.#keepAnswer(message);
      if (this.#isReady) this.#write(message);
    } else if (!("id" in message)) {
      if (this.#isReady) this.#write(message);
      else this.#backlog.push(message);
    } else if (message.method === methods.agent.initialize) {
      this.#initialize = message;
      this.#unanswered.set(message.id, message);
      void this.#run();
    } else {
      const tagged = withMeta(message, { requestId: newId() });
      this.#unanswered.set(message.id, tagged);
      this.#noteOpening(message);
      if (this.#isReady) this.#write(tagged);
    }
  }

  #keepAnswer(response: AnyResponse): void {
    if (response.id === undefined) return;
    this.#asked.set(response.id, response);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > KEPT_ANSWERS && oldest !== undefined) this.#asked.delete(oldest);
  }

  /** A failed write shows itself as the end of the readable side. */
  #write(message: AnyMessage): void {
    this.#connection?.writer.write(message).catch(() => undefined);
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#isEnded; failures += 1) {
      const wait = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS);
      const { signal } = this.#ending;
      if (failures > 0) await delay(wait * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
      if (this.#isEnded) return;
      const error = await this.#connect(() => {
        failures = 0;
      });
      if (this.#isEnded) return;
      const { reason, isRefused } = await this.#options.explain(error);
      if (!this.#isLasting) {
        this.#options.failed?.(reason, isRefused);
        this.#fail(reason);
        return;
      }
      this.#options.changed?.({ state: "lost", reason });
    }
  }

  /** Runs one connection to its end, and resolves to the reason. `connected` is called when the server has answered. */
  async #connect(connected: () => void): Promise<unknown> {
    const stream = this.#options.open();
    const connection = { writer: stream.writable.getWriter(), reader: stream.readable.getReader() };
    this.#connection = connection;
    this.#heardAt = performance.now();
    const pings = setInterval(() => this.#ping(connection), PING_MS);
    try {
      const begin = this.#isLasting ? this.#resume() : this.#begin();
      begin.then(connected, (error: unknown) => connection.reader.cancel(error).catch(() => undefined));
      await this.#read(connection);
      return undefined;
    } catch (error) {
      return error;
    } finally {
      clearInterval(pings);
      this.#isReady = false;
      this.#own.clear();
      connection.writer.abort().catch(() => undefined); // it has ended already
    }
  }

  async #read({ reader }: Connection): Promise<void> {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      this.#heardAt = performance.now();
      this.#receive(value);
    }
  }

  async #begin(): Promise<void> {
    if (this.#initialize !== undefined) this.#write(this.#initialize);
    this.#isReady = true;
  }

  /** Initialises a further connection, resumes the sessions, and repeats what may not have arrived. */
  async #resume(): Promise<void> {
    const facts = await this.#ask(methods.agent.initialize, fieldsOf(this.#initialize?.params));
    if ("error" in facts) throw new Error(facts.error.message);
    for (const [sessionId, { place, after }] of [...this.#sessions]) {
      if (after === undefined) continue;
      const hermes = { after };
      const resumed = await this.#ask(methods.agent.session.resume, { sessionId, ...place, _meta: { hermes } });
      const meta = "result" in resumed ? fieldsOf(resumed.result)["_meta"] : undefined;
      if (readMeta(HermesResumedMeta, meta)?.isComplete === true) continue;
      const seq = readMeta(HermesSequenceMeta, meta)?.seq;
      if (seq === undefined) this.#sessions.delete(sessionId);
      else this.#sessions.set(sessionId, { place, after: seq });
      this.#failTurns(sessionId, "error" in resumed ? resumed.error.message : RESTARTED);
    }
    this.#isReady = true;
    for (const message of [...this.#unanswered.values(), ...this.#backlog.splice(0)]) this.#write(message);
    this.#options.changed?.({ state: "connected" });
  }

  /** A prompt that the server may have run in part is never sent again. */
  #failTurns(sessionId: string, message: string): void {
    for (const { id, method, params } of this.#unanswered.values()) {
      if (method !== methods.agent.session.prompt || sessionOf(params) !== sessionId) continue;
      this.#unanswered.delete(id);
      this.#received?.enqueue({ jsonrpc: "2.0", id, error: { code: -32603, message } });
    }
  }

  #ask(method: string, params: unknown): Promise<AnyResponse> {
    const id = `lasting-${newId()}`;
    const answered = new Promise<AnyResponse>((resolve) => this.#own.set(id, resolve));
    this.#write({ jsonrpc: "2.0", id, method, params });
    return answered;
  }

  #ping({ reader }: Connection): void {
    const silence = performance.now() - this.#heardAt;
    if (!this.#isLasting) return;
    if (silence > 2 * PING_MS) void reader.cancel(new Error("the server does not answer")).catch(() => undefined);
    else if (silence >= PING_MS / 2) void this.#ask(pingMethod.name, {});
  }

  #receive(message: AnyMessage): void {
    if (!("method" in message)) this.#receiveResponse(message);
    else if ("id" in message) this.#receiveRequest(message);
    else if (this.#isNew(message)) this.#received?.enqueue(message);
  }

  #receiveResponse(response: AnyResponse): void {
    const own = this.#own.get(response.id);
    if (own !== undefined) {
      this.#own.delete(response.id);
      own(response);
      return;
    }
    const request = this.#unanswered.get(response.id);
    if (request === undefined) return; // the answer to a repeated request
    this.#unanswered.delete(response.id);
    if ("result" in response) this.#note(request, response.result);
    this.#received?.enqueue(response);
  }

  /** Keeps the facts for another connection. */
  #note({ method, params }: AnyRequest, result: unknown): void {
    const { initialize, session } = methods.agent;
    const meta = fieldsOf(result)["_meta"];
    if (method === initialize) {
      const capabilities = fieldsOf(fieldsOf(result)["agentCapabilities"]);
      this.#isLasting = readMeta(HermesServerMeta, capabilities["_meta"]) !== undefined;
      return;
    }
    const sessionId = sessionOf(result) ?? sessionOf(params);
    if (sessionId === undefined) return;
    if (method === session.close || method === session.delete) this.#sessions.delete(sessionId);
    const seq = readMeta(HermesSequenceMeta, meta)?.seq;
    if (seq === undefined) return;
    const known = this.#sessions.get(sessionId);
    // The response of a repeated request is older than the notifications after it.
    const isOlder = known?.after !== undefined && openingOf(known.after) === openingOf(seq) && known.after > seq;
    if (!isOlder) this.#sessions.set(sessionId, { place: known?.place ?? placeOf(params), after: seq });
  }

  /** A load shows the conversation from its beginning. */
  #noteOpening({ method, params }: AnyRequest): void {
    const { load, resume } = methods.agent.session;
    const sessionId = sessionOf(params);
    if ((method !== load && method !== resume) || sessionId === undefined) return;
    const after = method === resume ? this.#sessions.get(sessionId)?.after : undefined;
    this.#sessions.set(sessionId, { place: placeOf(params), after });
  }

  #receiveRequest(request: AnyRequest): void {
    if (!this.#asked.has(request.id)) {
      this.#asked.set(request.id, undefined);
      this.#received?.enqueue(request);
      return;
    }
    const answer = this.#asked.get(request.id);
    if (answer !== undefined) this.#write(answer);
  }

  /** False for a notification that has arrived before. */
  #isNew({ params }: AnyNotification): boolean {
    const { seq, taken = false } = readMeta(HermesSequenceMeta, fieldsOf(params)["_meta"]) ?? {};
    const sessionId = sessionOf(params) ?? "";
    if (taken) this.#sessions.delete(sessionId);
    if (seq === undefined) return true;
    const known = this.#sessions.get(sessionId);
    if (known?.after !== undefined && openingOf(seq) === openingOf(known.after) && seq <= known.after) return false;
    if (known !== undefined) known.after = seq;
    return true;
  }

  #fail(reason: string): void {
    this.#isEnded = true;
    this.#received?.error(new Error(reason));
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#ending.abort();
    this.#connection?.reader.cancel().catch(() => undefined);
    this.#connection?.writer.close().catch(() => undefined);
    // The reader may have cancelled it.
    attempt(() => this.#received?.close());
  }
}

function placeOf(params: unknown): OpenSession["place"] {
  const { cwd, additionalDirectories, mcpServers = [] } = fieldsOf(params);
  return { cwd, mcpServers, ...(additionalDirectories !== undefined && { additionalDirectories }) };
}

function openingOf(seq: number): number {
  return Math.floor(seq / NUMBERS_PER_OPENING);
}
