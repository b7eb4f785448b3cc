/** OpenAI's chat completions, and every endpoint that speaks them. */
import { quirksOf } from "../deployment/deployments.ts";
import { type FoldState, finishFold, startFold, step, streamDone } from "./chat-completions-fold.ts";
import { chatCompletionsBody } from "./chat-completions-request.ts";
import { DONE, openAiClient, responseEvents } from "./openai-client.ts";
import { defineWire, type ModelEvent, type ModelRequest } from "./wire.ts";

export const wire = defineWire({ mode: "chat_completions", stream });

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const client = await openAiClient(request.endpoint);
  const body = chatCompletionsBody(request, quirksOf(request.endpoint));
  const response = await client.chat.completions.create(body, { signal }).asResponse();
  let state: FoldState = startFold(request.messages);
  for await (const batch of responseEvents(response, (data) => data === DONE)) {
    for (const data of batch) {
      const next = data === DONE ? streamDone(state) : step(state, JSON.parse(data));
      state = next.state;
      yield* next.events;
    }
  }
  yield* finishFold(state);
}
