/** From a response over HTTP to model events, through the fold of a wire. */
import { joinDeltas } from "./join-deltas.ts";
import { readServerSentEvents } from "./server-sent-events.ts";
import type { ModelEvent } from "./wire.ts";

/** A wire's fold, as far as the reading of a response needs it. */
export type ResponseFold<State> = {
  readonly start: State;
  /** Takes the data of one event. */
  step(state: State, data: string): { readonly state: State; readonly events: readonly ModelEvent[] };
  /** True after the event that nothing needs to follow, even when the server keeps the connection open. */
  isLast(data: string, state: State): boolean;
  /** The last events, when the stream has ended. */
  finish(state: State): readonly ModelEvent[];
};

/** Throws what the fold throws, and at a web page: that is a wrong address. */
export async function* foldResponse<State>(response: Response, fold: ResponseFold<State>): AsyncGenerator<ModelEvent> {
  let state = fold.start;
  for await (const batch of batchesOf(response, (data) => fold.isLast(data, state))) {
    const events: ModelEvent[] = [];
    try {
      for (const data of batch) {
        const next = fold.step(state, data);
        state = next.state;
        events.push(...next.events);
      }
      if (events.length === 0) yield { type: "alive" };
    } finally {
      // Also what came before an event that cannot be read.
      yield* joinDeltas(events);
    }
  }
  yield* fold.finish(state);
}

/** A server or proxy that does not stream gives one document, which is one event. `isLast` is asked after its batch. */
async function* batchesOf(response: Response, isLast: (data: string) => boolean): AsyncGenerator<readonly string[]> {
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("text/html")) throw new SyntaxError("a web page instead of a stream; is the base URL right?");
  if (type.includes("application/json")) yield [await response.text()];
  else if (response.body !== null) yield* readServerSentEvents(response.body, isLast);
}
