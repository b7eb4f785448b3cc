/** OpenAI's chat completions and compatible endpoints. */
import type { OpenAI } from "openai";
import { quirksOf } from "../deployments.ts";
import { endpointUrl, requestEndpoint } from "../endpoint-request.ts";
import { type FoldState, finishFold, startFold, stepData, streamDone } from "./chat-completions-fold.ts";
import { chatCompletionsBody } from "./chat-completions-request.ts";
import { foldResponse } from "./fold-response.ts";
import { DONE } from "./server-sent-events.ts";
import { defineWire, type ModelEvent, type ModelRequest, omitParameters } from "./wire.ts";

const mode = "chat_completions";

export const wire = defineWire({ mode, stream });

function stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
  const body: OpenAI.ChatCompletionCreateParamsStreaming = chatCompletionsBody(request, quirksOf(request.endpoint));
  const place = { mode, endpoint: request.endpoint } as const;
  const ask = () =>
    requestEndpoint(place, endpointUrl(place, "/chat/completions"), { signal, body: omitParameters(body, request) });
  return foldResponse<FoldState>(ask, {
    start: startFold(request.messages),
    step: (state, data) => (data === DONE ? streamDone(state) : stepData(state, data)),
    isLast: (data) => data === DONE,
    finish: finishFold,
  });
}
