/** OpenAI's chat completions and compatible endpoints. */
import { quirksOf } from "../deployments.ts";
import { type FoldState, finishFold, startFold, step, streamDone } from "./chat-completions-fold.ts";
import { chatCompletionsBody } from "./chat-completions-request.ts";
import { foldResponse } from "./fold-response.ts";
import { openaiClient, warmUpOpenai } from "./openai-client.ts";
import { defineWire, type ModelEvent, type ModelRequest, omitParameters } from "./wire.ts";

/** Data of the last event. */
const DONE = "[DONE]";

export const wire = defineWire({ mode: "chat_completions", stream, warmUp: warmUpOpenai });

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const client = await openaiClient(request.endpoint);
  const body = omitParameters(chatCompletionsBody(request, quirksOf(request.endpoint)), request);
  const response = await client.chat.completions.create(body, { signal }).asResponse();
  yield* foldResponse<FoldState>(response, {
    start: startFold(request.messages),
    step: (state, data) => (data === DONE ? streamDone(state) : step(state, JSON.parse(data))),
    isLast: (data) => data === DONE,
    finish: finishFold,
  });
}
