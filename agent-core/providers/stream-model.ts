/** One model call over any wire, with exactly one last event, faults as events, and an immediate abort. */
import { setImmediate } from "node:timers/promises";
import type { Message } from "../messages/message.ts";
import type { Clock } from "../platform/clock.ts";
import { Deadline } from "../platform/deadline.ts";
import { isNearby } from "../platform/http/network-settings.ts";
import { speakDialect } from "./dialect/speak-dialect.ts";
import type { Fault } from "./fault.ts";
import type { ResolvedModel } from "./resolve-model.ts";
import { table } from "./wire/table.gen.ts";
import type { ApiMode, Endpoint, ModelEvent, ModelRequest, Wire } from "./wire/wire.ts";

/**
 * Longest silence of a server, before its first event and between two: it reads a whole prompt first, thinks without a word,
 * and some send a call only when all of it is written (github/copilot-cli#4286: 330 s). Milliseconds.
 */
const REMOTE_SILENCE_MS = 600_000;
/** A model on one's own hardware reads 200 tokens a second and writes five, and its server may load it first. */
const NEARBY_SILENCE_MS = 1_800_000;

/** True for a server of the user's own: no public service is without TLS. */
export function isOwnServer({ baseUrl = "" }: Pick<Endpoint, "baseUrl">): boolean {
  const { protocol, hostname } = URL.parse(baseUrl) ?? {};
  return protocol === "http:" || (hostname !== undefined && isNearby(hostname));
}

/** Silence that the server of this endpoint may keep. Milliseconds. */
export function silenceOf(endpoint: Pick<Endpoint, "baseUrl">): number {
  return isOwnServer(endpoint) ? NEARBY_SILENCE_MS : REMOTE_SILENCE_MS;
}

/** Pings and empty deltas prove a living server, but not a working one. Local servers send them for minutes. */
const SILENCES_WITHOUT_CONTENT = { ofDefault: 2, ofSetting: 10 };

/** Limits of a stream: the longest pause before an event, and before one with content. */
export type StreamLimits = { readonly idle: Deadline; readonly content: Deadline };

/** New limits, which start now. */
export function streamLimits(silenceMs: number, clock?: Clock): StreamLimits {
  const { ofDefault, ofSetting } = SILENCES_WITHOUT_CONTENT;
  const silences = [REMOTE_SILENCE_MS, NEARBY_SILENCE_MS].includes(silenceMs) ? ofDefault : ofSetting;
  return { idle: new Deadline(silenceMs, clock), content: new Deadline(silenceMs * silences, clock) };
}

/** Streams the answer. Throws the signal's reason at once when it is aborted. */
export function streamModel(
  request: ModelRequest,
  mode: ApiMode,
  signal: AbortSignal,
  limits = streamLimits(silenceOf(request.endpoint)),
): AsyncGenerator<ModelEvent> {
  const load = loaderOf(mode);
  return guardStream(async (wireSignal) => speakDialect(await load(), request, wireSignal), request, signal, limits);
}

/**
 * Loads and compiles what the first request in this mode needs, so that the request does not wait for it. Nothing is sent
 * anywhere. It stops between two steps when `signal` is aborted, and never rejects.
 */
export async function warmUpModel({ mode, endpoint, model }: ResolvedModel, signal: AbortSignal): Promise<void> {
  try {
    const wire = await loaderOf(mode)();
    await setImmediate(undefined, { signal });
    if (endpoint.baseUrl === undefined) return;
    // A request that is aborted before its first wait runs all the code up to the connection.
    const stop = new AbortController();
    const request = { endpoint, model, messages: REHEARSED, tools: [], sampling: {} };
    const first = speakDialect(wire, request, stop.signal).next();
    stop.abort();
    await first;
  } catch {
    // The first request fails too, and reports it.
  }
}

const REHEARSED: readonly Message[] = [
  { role: "system", content: "-" },
  { role: "user", content: "-" },
];

function loaderOf(mode: ApiMode): () => Promise<Wire> {
  const load = table[mode];
  if (load === undefined) throw new Error(`There is no wire for the API mode ${mode}.`);
  return load;
}

/** Guarantees of `streamModel` around any stream. Separate for tests with faulty streams. */
export async function* guardStream(
  open: (signal: AbortSignal) => AsyncIterable<ModelEvent> | Promise<AsyncIterable<ModelEvent>>,
  request: Pick<ModelRequest, "endpoint" | "model">,
  signal: AbortSignal,
  limits = streamLimits(silenceOf(request.endpoint)),
): AsyncGenerator<ModelEvent> {
  signal.throwIfAborted();
  // The wire's own signal also ends it when the caller stops listening. A combined signal (AbortSignal.any) would leak:
  // it lives as long as a listener.
  const stop = new AbortController();
  const read = new GuardedRead({ signal, stop, limits });
  let events: AsyncIterator<ModelEvent> | undefined;
  let isOver = false;
  try {
    events = (await open(stop.signal))[Symbol.asyncIterator]();
    for (let next = await read.of(events); !next.done; next = await read.of(events)) {
      isOver = next.value.type === "finish" || next.value.type === "fault";
      if (sizeOf(next.value) > 0) limits.content.restart();
      if (next.value.type !== "alive") yield next.value;
      if (isOver) return;
    }
    signal.throwIfAborted();
    yield { type: "fault", fault: await faultOf("cut-off", request) };
  } catch (error) {
    signal.throwIfAborted();
    const { classify } = await import("./classify.ts");
    signal.throwIfAborted();
    yield { type: "fault", fault: classify(error, request) };
  } finally {
    read.dispose();
    // A finished answer needs no abort, and an abort costs time.
    if (!isOver) stop.abort();
    // Not awaited, because a hanging read must not hold the turn. Its errors no longer matter.
    events?.return?.().catch(() => undefined);
  }
}

/** Fault of a stream without a last event, or of an empty answer. */
export async function faultOf(
  kind: "cut-off" | "empty" | "unread-call" | "filtered",
  { endpoint, model }: Pick<ModelRequest, "endpoint" | "model">,
): Promise<Fault> {
  const { faultMessage } = await import("./fault-sentence.ts");
  return { kind, message: faultMessage({ kind, endpoint, model, detail: "" }) };
}

/** Size of an event's content in characters. A call counts even without arguments. */
export function sizeOf(event: ModelEvent): number {
  switch (event.type) {
    case "text-delta":
    case "reasoning-delta":
    case "tool-call-delta":
      return event.text.length;
    case "tool-call-start":
      return event.name.length;
    case "alive":
      return event.heldChars ?? 0;
    default:
      return 0;
  }
}

/**
 * Reads that reject on the signal or after a limit. One listener and two timers serve the whole stream; a race
 * per read would leak some each.
 */
class GuardedRead {
  readonly #signal: AbortSignal;
  readonly #stop: AbortController;
  readonly #idle: Deadline;
  readonly #end = Promise.withResolvers<void>();
  #reject: (reason: unknown) => void = () => undefined;

  constructor({ signal, stop, limits }: { signal: AbortSignal; stop: AbortController; limits: StreamLimits }) {
    this.#signal = signal;
    this.#stop = stop;
    signal.addEventListener("abort", this.#onAbort, { once: true });
    this.#idle = limits.idle;
    this.#watch(limits.idle, "nothing came");
    this.#watch(limits.content, "only signs of life came");
  }

  #watch(limit: Deadline, complaint: string): void {
    void limit.waitFor(this.#end.promise).then((hasEnded) => {
      const seconds = Math.round(limit.limitMs / 1000);
      if (!hasEnded) this.#reject(new DOMException(`${complaint} for ${seconds} s`, "TimeoutError"));
    });
  }

  of<Value>(events: AsyncIterator<Value>): Promise<IteratorResult<Value>> {
    this.#signal.throwIfAborted();
    this.#idle.restart();
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      events.next().then(resolve, reject);
    });
  }

  dispose(): void {
    this.#end.resolve();
    this.#signal.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => {
    this.#reject(this.#signal.reason);
    this.#stop.abort(this.#signal.reason);
  };
}
