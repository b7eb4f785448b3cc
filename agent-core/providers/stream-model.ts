/** One model call whatever the wire: exactly one last event, faults as events, an abort that never waits. */
import { classify } from "./classify.ts";
import { table } from "./wire/table.gen.ts";
import type { ApiMode, ModelEvent, ModelRequest } from "./wire/wire.ts";

/** Streams the answer. Throws the signal's reason when it is aborted, even while the wire is stuck in a read. */
export async function* streamModel(
  request: ModelRequest,
  mode: ApiMode,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  signal.throwIfAborted();
  const wire = table.find((candidate) => candidate.mode === mode);
  if (wire === undefined) throw new Error(`There is no wire for the API mode ${mode}.`);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  aborted.catch(() => undefined); // raced below; nobody else waits for it
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const events = wire.stream(request, signal)[Symbol.asyncIterator]();
  try {
    for (
      let next = await Promise.race([events.next(), aborted]);
      !next.done;
      next = await Promise.race([events.next(), aborted])
    ) {
      yield next.value;
      if (next.value.type === "finish" || next.value.type === "fault") return;
    }
    yield { type: "fault", fault: cutOff(request) };
  } catch (error) {
    signal.throwIfAborted();
    yield { type: "fault", fault: classify(error, request.endpoint, request.model) };
  } finally {
    signal.removeEventListener("abort", onAbort);
    // Not awaited: a wire that hangs in its read must not hold the turn.
    events.return?.(undefined).catch(() => undefined);
  }
}

function cutOff({ endpoint, model }: ModelRequest) {
  const message = `${endpoint.provider} (${model}) broke off its answer before the end. Send the message again.`;
  return { kind: "cut-off", message } as const;
}
