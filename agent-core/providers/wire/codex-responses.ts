/** OpenAI's Responses API and compatible endpoints. Nothing is stored there, so each request is complete. */
import { type FoldState, finishFold, startFold, step } from "./codex-responses-fold.ts";
import { codexResponsesBody } from "./codex-responses-request.ts";
import { foldResponse } from "./fold-response.ts";
import { openaiClient, warmUpOpenai } from "./openai-client.ts";
import { defineWire, type ModelEvent, type ModelRequest, omitParameters } from "./wire.ts";

/** Some servers with both of OpenAI's APIs send this. It is ignored. */
const DONE = "[DONE]";

export const wire = defineWire({ mode: "codex_responses", stream, warmUp: warmUpOpenai });

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const client = await openaiClient(request.endpoint);
  const body = omitParameters(codexResponsesBody(request), request);
  const response = await client.responses.create(body, { signal }).asResponse();
  yield* foldResponse<FoldState>(response, {
    start: startFold(request.messages),
    step: (state, data) => (data === DONE ? { state, events: [] } : step(state, JSON.parse(data))),
    isLast: (_, state) => state.end !== undefined,
    finish: finishFold,
  });
}
