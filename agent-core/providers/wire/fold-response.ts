/** A wire over HTTP: its request, and the conversion of the response to model events by its fold. */
import type { HttpResponse } from "../../platform/http/http-response.ts";
import { joinNeighbours } from "../../platform/join-neighbours.ts";
import { endpointUrl, requestEndpoint } from "../endpoint-request.ts";
import { readServerSentEvents } from "./server-sent-events.ts";
import { type ApiMode, defineWire, type ModelEvent, type ModelRequest, omitParameters, type Wire } from "./wire.ts";

/** The part of a wire's fold that reads a response. */
type ResponseFold<State> = {
  start(messages: ModelRequest["messages"]): State;
  step(state: State, data: string): { readonly state: State; readonly events: readonly ModelEvent[] };
  /** True after the last event, even when the server keeps the connection open. */
  isLast(data: string, state: State): boolean;
  /** The last events, after the end of the stream. */
  finish(state: State): readonly ModelEvent[];
};

/** The wire of an API whose requests go to `path`. */
export function httpWire<State>(
  mode: ApiMode,
  path: string,
  { bodyOf, ...fold }: ResponseFold<State> & { bodyOf(request: ModelRequest): object },
): Wire {
  return defineWire({
    mode,
    stream(request, signal) {
      const body = omitParameters(bodyOf(request), request);
      const place = { mode, endpoint: request.endpoint };
      const ask = () => requestEndpoint(place, endpointUrl(place, path), { signal, body });
      return foldResponse(ask, fold, fold.start(request.messages));
    },
  });
}

/**
 * Throws the fold's errors, and an error for a web page, which means a wrong address. A response without streaming counts
 * as one event.
 */
async function* foldResponse<State>(
  ask: () => Promise<HttpResponse>,
  fold: ResponseFold<State>,
  start: State,
): AsyncGenerator<ModelEvent> {
  const response = await ask();
  let state = start;
  const isLast = (data: string): boolean => fold.isLast(data, state);
  for await (const batch of readServerSentEvents(response.body, isLast)) {
    const events: ModelEvent[] = [];
    try {
      for (const data of batch) {
        const next = fold.step(state, data);
        state = next.state;
        events.push(...next.events);
        if (isLast(data)) break; // bytes after the last event mean nothing
      }
      if (events.length === 0) yield { type: "alive" };
    } finally {
      // Also the events before an unreadable one.
      yield* joinDeltas(events);
    }
  }
  yield* fold.finish(state);
}

/** Joins neighbouring deltas of one kind. A fast model sends hundreds in one packet, and each event has a cost. */
export function joinDeltas(events: readonly ModelEvent[]): readonly ModelEvent[] {
  return events.length < 2 ? events : joinNeighbours(events, join);
}

function join(first: ModelEvent, second: ModelEvent): ModelEvent | undefined {
  if (first.type === "text-delta" && second.type === "text-delta") return { ...first, text: first.text + second.text };
  if (first.type === "reasoning-delta" && second.type === "reasoning-delta") {
    return { ...first, text: first.text + second.text };
  }
  if (first.type === "tool-call-delta" && second.type === "tool-call-delta" && first.index === second.index) {
    return { ...first, text: first.text + second.text };
  }
  return undefined;
}
