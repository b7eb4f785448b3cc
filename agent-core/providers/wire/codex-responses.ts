/** OpenAI's Responses API and compatible endpoints. Nothing is stored there, so each request is complete. */
import type { OpenAI } from "openai";
import { endpointUrl, requestEndpoint } from "../endpoint-request.ts";
import { type FoldState, finishFold, startFold, step } from "./codex-responses-fold.ts";
import { codexResponsesBody } from "./codex-responses-request.ts";
import { foldResponse } from "./fold-response.ts";
import { DONE } from "./server-sent-events.ts";
import { defineWire, type ModelEvent, type ModelRequest, omitParameters } from "./wire.ts";

const mode = "codex_responses";

export const wire = defineWire({ mode, stream });

function stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
  const body: OpenAI.Responses.ResponseCreateParamsStreaming = codexResponsesBody(request);
  const place = { mode, endpoint: request.endpoint } as const;
  const ask = () =>
    requestEndpoint(place, endpointUrl(place, "/responses"), { signal, body: omitParameters(body, request) });
  return foldResponse<FoldState>(ask, {
    start: startFold(request.messages),
    step: (state, data) => (data === DONE ? { state, events: [] } : step(state, JSON.parse(data))),
    isLast: (_, state) => state.end !== undefined,
    finish: finishFold,
  });
}
