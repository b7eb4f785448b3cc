/** Anthropic's Messages API, and the endpoints that are compatible with it. */
import { type FoldState, finishFold, startFold, step } from "./anthropic-messages-fold.ts";
import { anthropicMessagesBody } from "./anthropic-messages-request.ts";
import { httpWire } from "./fold-response.ts";
import { DONE } from "./server-sent-events.ts";

export const wire = httpWire<FoldState>("anthropic_messages", "/messages", {
  bodyOf: anthropicMessagesBody,
  start: startFold,
  step: (state, data) => (state.isOver || data === DONE ? { state, events: [] } : step(state, JSON.parse(data))),
  isLast: (_, state) => state.isOver,
  finish: finishFold,
});
