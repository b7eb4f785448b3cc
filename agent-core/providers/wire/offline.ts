/** The embedded default: a small interpreter that answers with the same events as any model, and says what it is. */
import { randomUUID } from "node:crypto";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { answerOffline } from "../offline/answer.ts";
import { defineWire, type ModelEvent, type ModelRequest, type Usage } from "./wire.ts";

/** Characters of a token in ordinary English text, for the estimate. */
const CHARS_A_TOKEN = 4;

export const wire = defineWire({ mode: "offline", stream });

async function* stream({ messages, tools }: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const answer = answerOffline(
    messages,
    tools.map((tool) => tool.name),
  );
  const text = answer.kind === "text" ? answer.text : answer.lead;
  for (const piece of text.match(/\S+\s*|\s+/g) ?? []) {
    await turnOfTheLoop(undefined, { signal });
    yield { type: "text-delta", text: piece };
  }
  let written = text;
  if (answer.kind === "call") {
    const id = `offline_${randomUUID()}`;
    const json = JSON.stringify(answer.input);
    written += json;
    yield { type: "tool-call-start", index: 0, id, name: answer.tool };
    for (const piece of json.match(/[\s\S]{1,24}/g) ?? []) {
      await turnOfTheLoop(undefined, { signal });
      yield { type: "tool-call-delta", index: 0, text: piece };
    }
    const call = { id, type: "function", function: { name: answer.tool, arguments: json } } as const;
    yield { type: "tool-call-end", index: 0, call };
  }
  const usage: Usage = {
    inputTokens: Math.ceil(JSON.stringify(messages).length / CHARS_A_TOKEN),
    outputTokens: Math.ceil(written.length / CHARS_A_TOKEN),
    cachedInputTokens: 0,
    reasoningTokens: 0,
  };
  yield { type: "finish", reason: answer.kind === "call" ? "tool_calls" : "stop", usage };
}
