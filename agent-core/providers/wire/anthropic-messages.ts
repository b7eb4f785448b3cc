/** Anthropic's Messages API, and the endpoints that are compatible with it. */
import { type FoldState, finishFold, startFold, step } from "./anthropic-messages-fold.ts";
import { anthropicMessagesBody } from "./anthropic-messages-request.ts";
import { foldResponse } from "./fold-response.ts";
import { defineWire, type ModelEvent, type ModelRequest, omitParameters } from "./wire.ts";

/** Some compatible endpoints end with this, like OpenAI. It is ignored. */
const DONE = "[DONE]";

export const wire = defineWire({ mode: "anthropic_messages", stream, warmUp });

async function warmUp(): Promise<void> {
  await import("./anthropic-client.ts");
}

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  // Loaded on first use, because many sessions never need the SDK.
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
