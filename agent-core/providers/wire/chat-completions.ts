/** OpenAI's chat completions and compatible endpoints. */
import { quirksOf } from "../deployments.ts";
import { type FoldState, finishFold, startFold, stepData, streamDone } from "./chat-completions-fold.ts";
import { chatCompletionsBody } from "./chat-completions-request.ts";
import { httpWire } from "./fold-response.ts";
import { DONE } from "./server-sent-events.ts";

export const wire = httpWire<FoldState>("chat_completions", "/chat/completions", {
  bodyOf: (request) => chatCompletionsBody(request, quirksOf(request.endpoint)),
  start: startFold,
  step: (state, data) => (data === DONE ? streamDone(state) : stepData(state, data)),
  isLast: (data) => data === DONE,
  finish: finishFold,
});
