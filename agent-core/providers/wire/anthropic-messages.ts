/** Anthropic's Messages API, and the endpoints that are compatible with it. */

import { endpointUrl, requestEndpoint } from "../endpoint-request.ts";
import { type FoldState, finishFold, startFold, step } from "./anthropic-messages-fold.ts";
import { anthropicMessagesBody } from "./anthropic-messages-request.ts";
import { foldResponse } from "./fold-response.ts";
import { DONE } from "./server-sent-events.ts";
import { defineWire, type ModelEvent, type ModelRequest, omitParameters } from "./wire.ts";

const mode = "anthropic_messages";

export const wire = defineWire({ mode, stream });

function stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
  const body = anthropicMessagesBody(request);
  const place = { mode, endpoint: request.endpoint } as const;
  const ask = () =>
    requestEndpoint(place, endpointUrl(place, "/messages"), { signal, body: omitParameters(body, request) });
  return foldResponse<FoldState>(ask, {
    start: startFold(request.messages),
    step: (state, data) => (state.isOver || data === DONE ? { state, events: [] } : step(state, JSON.parse(data))),
    isLast: (_, state) => state.isOver,
    finish: finishFold,
  });
}
