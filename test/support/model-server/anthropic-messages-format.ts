/** Anthropic's Messages API as server-sent events. */
import type { AnswerUsage, StreamedAnswer } from "./answer.ts";
import type { Format, Speaker, SpokenPart } from "./format.ts";
import { pieces } from "./pieces.ts";

const DEFAULT_USAGE: AnswerUsage = { input: 100, output: 20, cached: 60 };
/** Part of the uncached tokens that is written to the cache. */
const WRITTEN_TO_CACHE = 10;

/** Words for `finish` that differ from Anthropic's. */
const stopReasons: Readonly<Record<string, string>> = { length: "max_tokens", stop: "end_turn" };

export const anthropicMessagesFormat: Format = { path: "/messages", speaker };

function speaker(number: number): Speaker {
  let index = -1;
  let open: string | undefined;
  let calls = 0;
  let refusal: string | undefined;

  const close = (): readonly string[] => {
    if (open === undefined) return [];
    const last =
      open === "thinking" ? [delta(index, { type: "signature_delta", signature: `c2lnbmVk${number}${index}` })] : [];
    open = undefined;
    return [...last, event("content_block_stop", { index })];
  };
  const start = (type: string, more: Readonly<Record<string, unknown>>): readonly string[] => {
    const closed = close();
    index += 1;
    open = type;
    return [...closed, event("content_block_start", { index, content_block: { type, ...more } })];
  };
  const speakCall = ({ name, input, raw, pieceChars }: Extract<SpokenPart, { type: "call" }>): readonly string[] => {
    const begun = start("tool_use", { id: `toolu_${number}_${calls}`, name, input: {} });
    calls += 1;
    const json = raw ?? JSON.stringify(input);
    // A call without input has no pieces but an empty one.
    const parts = json === "{}" ? [""] : pieces(json, pieceChars);
    return [
      ...begun,
      ...parts.map((piece) => delta(index, { type: "input_json_delta", partial_json: piece })),
      ...close(),
    ];
  };
  return {
    begin({ usage = DEFAULT_USAGE }: StreamedAnswer) {
      const empty = { id: `msg_${number}`, type: "message", role: "assistant", content: [], stop_reason: null };
      const counted = usage !== null && { usage: usageOf({ ...usage, output: 1, reasoning: 0 }) };
      return [event("message_start", { message: { ...empty, ...counted } }), event("ping", {})];
    },
    speak(part) {
      switch (part.type) {
        case "text": {
          const begun = open === "text" ? [] : start("text", { text: "" });
          return [...begun, delta(index, { type: "text_delta", text: part.text })];
        }
        case "reasoning": {
          const begun = open === "thinking" ? [] : start("thinking", { thinking: "", signature: "" });
          return [...begun, delta(index, { type: "thinking_delta", thinking: part.text })];
        }
        case "refusal":
          refusal = part.text;
          return [];
        case "call":
          return speakCall(part);
      }
    },
    raw: (data) => `data: ${data}\n\n`,
    end({ finish, usage = DEFAULT_USAGE }: StreamedAnswer) {
      const spoken = refusal === undefined ? endOf(calls) : "refusal";
      const reason = finish ? (stopReasons[finish] ?? finish) : spoken;
      const details = refusal === undefined ? null : { type: "refusal", category: null, explanation: refusal };
      return [
        ...close(),
        event("message_delta", {
          delta: { stop_reason: reason, stop_sequence: null, stop_details: details },
          ...(usage !== null && { usage: usageOf(usage) }),
        }),
        event("message_stop", {}),
      ];
    },
  };
}

function endOf(calls: number): string {
  return calls > 0 ? "tool_use" : "end_turn";
}

/** Anthropic does not count cached tokens as input. */
function usageOf({ input, output, cached = 0, reasoning = 0 }: AnswerUsage) {
  const written = Math.min(WRITTEN_TO_CACHE, input - cached);
  return {
    input_tokens: input - cached - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning },
  };
}

function delta(index: number, change: unknown): string {
  return event("content_block_delta", { index, delta: change });
}

function event(type: string, data: Readonly<Record<string, unknown>>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
