/** One model call whatever the wire: exactly one last event, faults as events, an abort that never waits. */
import { classify, faultOf } from "./classify.ts";
import { table } from "./wire/table.gen.ts";
import type { ApiMode, ModelEvent, ModelRequest } from "./wire/wire.ts";

/** How long a stream may say nothing at all before it counts as dead; behaviour.md §API modes, Faults. */
const DEFAULT_SILENCE_MS = 60_000;
/** Silence is counted in steps: what comes while this process stands still is taken before the next one. */
const SILENT_STEPS = 10;

/**
 * Streams the answer. Throws the signal's reason when it is aborted, even while the wire is stuck in a read. `silenceMs`
 * is the longest pause within the stream, in milliseconds.
 */
export function streamModel(
  request: ModelRequest,
  mode: ApiMode,
  signal: AbortSignal,
  silenceMs = DEFAULT_SILENCE_MS,
): AsyncGenerator<ModelEvent> {
  const wire = table.find((candidate) => candidate.mode === mode);
  if (wire === undefined) throw new Error(`There is no wire for the API mode ${mode}.`);
  return guardStream((wireSignal) => wire.stream(request, wireSignal), request, signal, silenceMs);
}

/** What `streamModel` promises, around any stream; apart so that it can be shown with streams that misbehave. */
export async function* guardStream(
  open: (signal: AbortSignal) => AsyncIterable<ModelEvent>,
  request: Pick<ModelRequest, "endpoint" | "model">,
  signal: AbortSignal,
  silenceMs = DEFAULT_SILENCE_MS,
): AsyncGenerator<ModelEvent> {
  signal.throwIfAborted();
  // The wire's own signal also ends it when the caller stops listening. Not one that is made of others: those are kept as
  // long as anything listens to them, and the providers' libraries never stop.
  const stop = new AbortController();
  const read = new GuardedRead({ signal, stop, silenceMs });
  let events: AsyncIterator<ModelEvent> | undefined;
  let isOver = false as boolean;
  try {
    events = open(stop.signal)[Symbol.asyncIterator]();
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
    // An answer that is over holds nothing that would have to be stopped, and an abort has its price.
    if (!isOver) stop.abort();
    // Not awaited: a wire that hangs in its read must not hold the turn. What it throws now concerns nobody.
    events?.return?.().catch(() => undefined);
  }
}

/**
 * Reads that reject when the signal fires or nothing comes for too long: one listener and one timer for the stream, none
 * left behind a read (a race leaves one).
 */
class GuardedRead {
  readonly #signal: AbortSignal;
  readonly #stop: AbortController;
  readonly #silence: NodeJS.Timeout;
  /** Since something came. */
  #silentSteps = 0;
  #reject: (reason: unknown) => void = () => undefined;

  /** What `signal` says goes on to `stop`. */
  constructor({ signal, stop, silenceMs }: { signal: AbortSignal; stop: AbortController; silenceMs: number }) {
    this.#signal = signal;
    this.#stop = stop;
    signal.addEventListener("abort", this.#onAbort, { once: true });
    this.#silence = setInterval(() => {
      this.#silentSteps += 1;
      if (this.#silentSteps <= SILENT_STEPS) return; // the first one had begun before
      this.#reject(new DOMException(`nothing came for ${Math.round(silenceMs / 1000)} s`, "TimeoutError"));
    }, silenceMs / SILENT_STEPS);
  }

  of<Value>(events: AsyncIterator<Value>): Promise<IteratorResult<Value>> {
    this.#signal.throwIfAborted();
    this.#silentSteps = 0;
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      events.next().then(resolve, reject);
    });
  }

  dispose(): void {
    clearInterval(this.#silence);
    this.#signal.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => {
    this.#reject(this.#signal.reason);
    this.#stop.abort(this.#signal.reason);
  };
}
