/** OpenAI's chat completions and compatible endpoints. */
import type { OpenAI } from "openai";
import { quirksOf } from "../deployments.ts";
import { endpointUrl, requestEndpoint } from "../endpoint-request.ts";
import { type FoldState, finishFold, startFold, step, streamDone } from "./chat-completions-fold.ts";
import { chatCompletionsBody } from "./chat-completions-request.ts";
import { foldResponse } from "./fold-response.ts";
import { DONE } from "./server-sent-events.ts";
import { defineWire, type ModelEvent, type ModelRequest, omitParameters } from "./wire.ts";

const mode = "chat_completions";

export const wire = defineWire({ mode, stream });

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const place = { mode, endpoint: request.endpoint } as const;
  const full: OpenAI.ChatCompletionCreateParamsStreaming = chatCompletionsBody(request, quirksOf(request.endpoint));
  const body = omitParameters(full, request);
  const response = await requestEndpoint(place, endpointUrl(place, "/chat/completions"), { signal, body });
  yield* foldResponse<FoldState>(response, {
    start: startFold(request.messages),
    step: (state, data) => (data === DONE ? streamDone(state) : step(state, JSON.parse(data))),
    isLast: (data) => data === DONE,
    finish: finishFold,
  });
}
