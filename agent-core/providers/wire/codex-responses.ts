/** OpenAI's Responses API and compatible endpoints. Nothing is stored there, so each request is complete. */
import { type FoldState, finishFold, startFold, step } from "./codex-responses-fold.ts";
import { codexResponsesBody } from "./codex-responses-request.ts";
import { httpWire } from "./fold-response.ts";
import { DONE } from "./server-sent-events.ts";

export const wire = httpWire<FoldState>("codex_responses", "/responses", {
  bodyOf: codexResponsesBody,
  start: startFold,
  step: (state, data) => (data === DONE ? { state, events: [] } : step(state, JSON.parse(data))),
  isLast: (_, state) => state.end !== undefined,
  finish: finishFold,
});
