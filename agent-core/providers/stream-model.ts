/** One model call over any wire, with exactly one last event, faults as events, and an immediate abort. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { Deadline } from "../platform/deadline.ts";
import { classify, faultOf } from "./classify.ts";
import type { ResolvedModel } from "./resolve.ts";
import { table } from "./wire/table.gen.ts";
import type { ApiMode, ModelEvent, ModelRequest, Wire } from "./wire/wire.ts";

/** Idle timeout of a stream. A living server sends something within a minute. */
const DEFAULT_IDLE_MS = 60_000;

/**
 * Streams the answer. Throws the signal's reason at once when it is aborted. `idle`: the longest pause within the
 * stream.
 */
export function streamModel(
  request: ModelRequest,
  mode: ApiMode,
  signal: AbortSignal,
  idle = new Deadline(DEFAULT_IDLE_MS),
): AsyncGenerator<ModelEvent> {
  const load = loaderOf(mode);
  return guardStream(async (wireSignal) => (await load()).stream(request, wireSignal), request, signal, idle);
}

/**
 * Loads what the first request in this mode needs, so that the request does not wait for it. Nothing is sent anywhere.
 * It stops between two steps when `signal` is aborted, and never rejects.
 */
export async function warmUpModel({ mode, endpoint }: ResolvedModel, signal: AbortSignal): Promise<void> {
  try {
    const wire = await loaderOf(mode)();
    await nextTurn(undefined, { signal });
    await wire.warmUp?.(endpoint);
  } catch {
    // The first request fails in the same way, and reports it.
  }
}

/** Wires are loaded at their first use: most sessions use one of them. */
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
  idle = new Deadline(DEFAULT_IDLE_MS),
): AsyncGenerator<ModelEvent> {
  signal.throwIfAborted();
  // The wire's own signal also ends it when the caller stops listening. A combined signal (AbortSignal.any) would leak:
  // it lives as long as a listener, and the SDKs never remove theirs.
  const stop = new AbortController();
  const read = new GuardedRead({ signal, stop, idle });
  let events: AsyncIterator<ModelEvent> | undefined;
  let isOver = false as boolean;
  try {
    events = (await open(stop.signal))[Symbol.asyncIterator]();
    for (let next = await read.of(events); !next.done; next = await read.of(events)) {
      isOver = next.value.type === "finish" || next.value.type === "fault";
      if (next.value.type !== "alive") yield next.value;
      if (isOver) return;
    }
    signal.throwIfAborted();
    yield { type: "fault", fault: faultOf("cut-off", request) };
  } catch (error) {
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

/**
 * Reads that reject on the signal or after the idle timeout. One listener and one timer serve the whole stream; a race
 * per read would leak one each.
 */
class GuardedRead {
  readonly #signal: AbortSignal;
  readonly #stop: AbortController;
  readonly #idle: Deadline;
  readonly #end = Promise.withResolvers<void>();
  #reject: (reason: unknown) => void = () => undefined;

  /** An abort of `signal` aborts `stop` too. */
  constructor({ signal, stop, idle }: { signal: AbortSignal; stop: AbortController; idle: Deadline }) {
    this.#signal = signal;
    this.#stop = stop;
    signal.addEventListener("abort", this.#onAbort, { once: true });
    this.#idle = idle;
    void idle.waitFor(this.#end.promise).then((hasEnded) => {
      const seconds = Math.round(idle.limitMs / 1000);
      if (!hasEnded) this.#reject(new DOMException(`nothing came for ${seconds} s`, "TimeoutError"));
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
