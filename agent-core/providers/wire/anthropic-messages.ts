/** Anthropic's Messages API, and the endpoints that are compatible with it. */
import { type FoldState, finishFold, startFold, step } from "./anthropic-messages-fold.ts";
import { anthropicMessagesBody } from "./anthropic-messages-request.ts";
import { foldResponse } from "./fold-response.ts";
import { omitParameters } from "./omit-parameters.ts";
import { defineWire, type ModelEvent, type ModelRequest } from "./wire.ts";

/** Some compatible endpoints end with it, as OpenAI does; it means nothing here. */
const DONE = "[DONE]";

export const wire = defineWire({ mode: "anthropic_messages", stream, warmUp });

async function warmUp(): Promise<void> {
  await Promise.all([import("./anthropic-client.ts"), fetch("data:,")]);
}

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  // Loaded on first use: start-up must not pay for a library that this session may never need.
  const { postMessages } = await import("./anthropic-client.ts");
  const response = await postMessages(
    request.endpoint,
    omitParameters(anthropicMessagesBody(request), request),
    signal,
  );
  yield* foldResponse<FoldState>(response, {
    start: startFold(request.messages),
    step: (state, data) => (state.isOver || data === DONE ? { state, events: [] } : step(state, JSON.parse(data))),
    isLast: (_, state) => state.isOver,
    finish: finishFold,
  });
}
