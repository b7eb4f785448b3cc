import { expect, test } from "vitest";
import { HarmonyText } from "../../../../agent-core/providers/dialect/harmony-text.ts";
import { joined } from "../../../conformance/collect.ts";

function read(text: string, chars: number) {
  const harmony = new HarmonyText();
  const pieces = text.match(new RegExp(`[^]{1,${chars}}`, "gu")) ?? [];
  const events = [...pieces.flatMap((piece) => harmony.take(piece)), ...harmony.end()];
  return { text: joined(events, "text-delta"), thought: joined(events, "reasoning-delta") };
}

const THOUGHT = "<|channel|>analysis<|message|>Hm: a < b.<|end|>";
const CALL = '<tool_call>{"name":"list","arguments":{"depth": 2}}</tool_call>';

test.each([
  [
    "a thought and an answer",
    `${THOUGHT}<|start|>assistant<|channel|>final<|message|>Yes.<|return|>`,
    "Hm: a < b.",
    "Yes.",
  ],
  ["an answer that the token limit cut", "<|channel|>final<|message|>Yes. <|", "", "Yes. <|"],
  [
    "a call",
    `${THOUGHT}<|start|>assistant<|channel|>commentary to=functions.list <|constrain|>json<|message|>{"depth": 2}<|call|>`,
    "Hm: a < b.",
    CALL,
  ],
  [
    "a call without its last token",
    '<|start|>assistant to=functions.list<|channel|>commentary json<|message|>{"depth": 2}',
    "",
    CALL,
  ],
  ["a missing start token", `${THOUGHT}<|channel|>final<|message|>Yes.`, "Hm: a < b.", "Yes."],
  [
    "plain text about the tokens",
    "The token <|channel|> begins a message.",
    "",
    "The token <|channel|> begins a message.",
  ],
  ["text that only begins like a token", "<|chan", "", "<|chan"],
])("reads %s", (_title, written, thought, text) => {
  for (const chars of [1, 4, 1_000]) expect(read(written, chars)).toEqual({ text, thought });
});
