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

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const place = { mode, endpoint: request.endpoint } as const;
  const full: OpenAI.Responses.ResponseCreateParamsStreaming = codexResponsesBody(request);
  const body = omitParameters(full, request);
  const response = await requestEndpoint(place, endpointUrl(place, "/responses"), { signal, body });
  yield* foldResponse<FoldState>(response, {
    start: startFold(request.messages),
    step: (state, data) => (data === DONE ? { state, events: [] } : step(state, JSON.parse(data))),
    isLast: (_, state) => state.end !== undefined,
    finish: finishFold,
  });
}
