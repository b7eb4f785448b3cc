/** OpenAI's Responses, and every endpoint that speaks them. Nothing is stored there: each request carries it all. */
import { type FoldState, finishFold, startFold, step } from "./codex-responses-fold.ts";
import { codexResponsesBody } from "./codex-responses-request.ts";
import { DONE, openAiClient, responseEvents } from "./openai-client.ts";
import { defineWire, type ModelEvent, type ModelRequest } from "./wire.ts";

export const wire = defineWire({ mode: "codex_responses", stream });

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const client = await openAiClient(request.endpoint);
  const response = await client.responses.create(codexResponsesBody(request), { signal }).asResponse();
  let state: FoldState = startFold(request.messages);
  // Asked after the batch was taken in: the state knows by then.
  for await (const batch of responseEvents(response, () => state.end !== undefined)) {
    for (const data of batch) {
      // OpenAI does not send it here, servers that speak both of its APIs do; it ends nothing.
      if (data === DONE) continue;
      const next = step(state, JSON.parse(data));
      state = next.state;
      yield* next.events;
    }
  }
  yield* finishFold(state);
}
