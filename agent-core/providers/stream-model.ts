/** One model call whatever the wire: exactly one last event, faults as events, an abort that never waits. */
import { classify, cutOff } from "./classify.ts";
import { table } from "./wire/table.gen.ts";
import type { ApiMode, ModelEvent, ModelRequest } from "./wire/wire.ts";

/** Streams the answer. Throws the signal's reason when it is aborted, even while the wire is stuck in a read. */
export function streamModel(request: ModelRequest, mode: ApiMode, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const wire = table.find((candidate) => candidate.mode === mode);
  if (wire === undefined) throw new Error(`There is no wire for the API mode ${mode}.`);
  return guardStream((wireSignal) => wire.stream(request, wireSignal), request, signal);
}

/** What `streamModel` promises, around any stream; apart so that it can be shown with streams that misbehave. */
export async function* guardStream(
  open: (signal: AbortSignal) => AsyncIterable<ModelEvent>,
  request: Pick<ModelRequest, "endpoint" | "model">,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  signal.throwIfAborted();
  // The wire's own signal also ends it when the caller stops listening.
  const stop = new AbortController();
  const read = new AbortableRead(signal);
  let events: AsyncIterator<ModelEvent> | undefined;
  try {
    events = open(AbortSignal.any([signal, stop.signal]))[Symbol.asyncIterator]();
    for (let next = await read.of(events); !next.done; next = await read.of(events)) {
      yield next.value;
      if (next.value.type === "finish" || next.value.type === "fault") return;
    }
    signal.throwIfAborted();
    yield { type: "fault", fault: cutOff(request) };
  } catch (error) {
    signal.throwIfAborted();
    yield { type: "fault", fault: classify(error, request) };
  } finally {
    read.dispose();
    stop.abort();
    // Not awaited: a wire that hangs in its read must not hold the turn. What it throws now concerns nobody.
    events?.return?.().catch(() => undefined);
  }
}

/** Reads that reject when the signal fires: one listener for the stream, none left behind a read (a race leaves one). */
class AbortableRead {
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.#reject(this.#signal.reason);
  #reject: (reason: unknown) => void = () => undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  of<Value>(events: AsyncIterator<Value>): Promise<IteratorResult<Value>> {
    this.#signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      events.next().then(resolve, reject);
    });
  }

  dispose(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}
