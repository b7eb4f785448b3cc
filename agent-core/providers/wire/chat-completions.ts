/** OpenAI's chat completions, and every endpoint that speaks them. */
import { quirksOf } from "../deployment/deployments.ts";
import { type FoldState, finishFold, startFold, step, streamDone } from "./chat-completions-fold.ts";
import { chatCompletionsBody } from "./chat-completions-request.ts";
import { joinDeltas } from "./join-deltas.ts";
import { omitParameters } from "./omit-parameters.ts";
import { openaiClient } from "./openai-client.ts";
import { readServerSentEvents } from "./server-sent-events.ts";
import { defineWire, type ModelEvent, type ModelRequest } from "./wire.ts";

/** Data of the last event. */
const DONE = "[DONE]";

export const wire = defineWire({ mode: "chat_completions", stream });

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const client = await openaiClient(request.endpoint);
  const body = omitParameters(chatCompletionsBody(request, quirksOf(request.endpoint)), request);
  const response = await client.chat.completions.create(body, { signal }).asResponse();
  let state: FoldState = startFold(request.messages);
  for await (const batch of chunksOf(response)) {
    const events: ModelEvent[] = [];
    try {
      for (const data of batch) {
        const next = data === DONE ? streamDone(state) : step(state, JSON.parse(data));
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

/** A server or proxy that does not stream gives one document, which is one chunk; a web page is a wrong address. */
async function* chunksOf(response: Response): AsyncGenerator<readonly string[]> {
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("text/html")) throw new SyntaxError("a web page instead of a stream; is the base URL right?");
  if (type.includes("application/json")) yield [await response.text()];
  else if (response.body !== null) yield* readServerSentEvents(response.body, (data) => data === DONE);
}
