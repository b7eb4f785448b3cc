/** The offline mode: the built-in interpreter answers with the same events as a model. */
import { answerOffline } from "../offline/answer.ts";
import { newCallId } from "./partial-tool-calls.ts";
import { defineWire, type ModelEvent, type ModelRequest } from "./wire.ts";

/** Characters per token in English text, for the estimate. */
const CHARS_PER_TOKEN = 4;
/** Characters per piece of arguments. */
const PIECE_CHARS = 24;

export const wire = defineWire({ mode: "offline", stream });

async function* stream({ messages, tools }: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  // The search for deferred tools lists their names, and the agent runs each by its name.
  const named = tools.map(({ name, description }) => (name === "tool_search" ? `${name} ${description}` : name));
  const { text, call } = answerOffline(messages, named.join(" ").match(/\w+/g) ?? []);
  for (const piece of text.match(/\S+\s*|\s+/g) ?? []) {
    await yieldToEventLoop(signal);
    yield { type: "text-delta", text: piece };
  }
  const json = call === undefined ? "" : JSON.stringify(call.input);
  if (call !== undefined) yield* streamCall(call.tool, json, signal);
  yield {
    type: "finish",
    reason: call === undefined ? "stop" : "tool_calls",
    usage: {
      inputTokens: Math.ceil((JSON.stringify(messages).length + JSON.stringify(tools).length) / CHARS_PER_TOKEN),
      outputTokens: Math.ceil((text.length + json.length) / CHARS_PER_TOKEN),
      cachedInputTokens: 0,
      reasoningTokens: 0,
    },
  };
}

async function* streamCall(name: string, json: string, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const id = newCallId();
  yield { type: "tool-call-start", index: 0, id, name };
  for (const piece of json.match(new RegExp(`[^]{1,${PIECE_CHARS}}`, "gu")) ?? []) {
    await yieldToEventLoop(signal);
    yield { type: "tool-call-delta", index: 0, text: piece };
  }
  yield { type: "tool-call-end", index: 0, call: { id, type: "function", function: { name, arguments: json } } };
}

/** Yields to other work, so that the answer streams. */
async function yieldToEventLoop(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}
