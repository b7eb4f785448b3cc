/** Anthropic's Messages API, and the endpoints that are compatible with it. */
import { type FoldState, finishFold, startFold, step } from "./anthropic-messages-fold.ts";
import { anthropicMessagesBody } from "./anthropic-messages-request.ts";
import { joinDeltas } from "./join-deltas.ts";
import { omitParameters } from "./omit-parameters.ts";
import { readServerSentEvents } from "./server-sent-events.ts";
import { defineWire, type ModelEvent, type ModelRequest } from "./wire.ts";

/** Some compatible endpoints end with it, as OpenAI does; it means nothing here. */
const DONE = "[DONE]";
/** Quotes within a string are escaped, so this is never part of an answer's text. */
const LAST_EVENT = /"type"\s*:\s*"message_stop"/;

export const wire = defineWire({ mode: "anthropic_messages", stream });

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  // Loaded on first use: start-up must not pay for a library that this session may never need.
  const { postMessages } = await import("./anthropic-client.ts");
  const response = await postMessages(
    request.endpoint,
    omitParameters(anthropicMessagesBody(request), request),
    signal,
  );
  let state: FoldState = startFold(request.messages);
  for await (const batch of eventsOf(response)) {
    const events: ModelEvent[] = [];
    try {
      for (const data of batch) {
        if (state.isOver || data === DONE) continue;
        const next = step(state, JSON.parse(data));
        state = next.state;
        events.push(...next.events);
      }
      if (events.length === 0) yield { type: "alive" };
    } finally {
      // Also what came before an event that cannot be read.
      yield* joinDeltas(events);
    }
  }
  yield* finishFold(state);
}

/** A server or proxy that does not stream gives one document; a web page is a wrong address. */
async function* eventsOf(response: Response): AsyncGenerator<readonly string[]> {
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("text/html")) throw new SyntaxError("a web page instead of a stream; is the base URL right?");
  if (type.includes("application/json")) yield [await response.text()];
  else if (response.body !== null) yield* readServerSentEvents(response.body, (data) => LAST_EVENT.test(data));
}
