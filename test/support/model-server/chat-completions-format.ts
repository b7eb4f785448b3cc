/** OpenAI's chat completions as server-sent events. */
import type { AnswerUsage, StreamedAnswer } from "./answer.ts";
import type { Format, Speaker, SpokenPart } from "./format.ts";
import { pieces } from "./pieces.ts";

const DEFAULT_USAGE: AnswerUsage = { input: 100, output: 20, cached: 60 };

export const chatCompletionsFormat: Format = { path: "/chat/completions", speaker };

function speaker(number: number): Speaker {
  let calls = 0;
  const chunk = (delta: unknown, finish: string | null = null): string =>
    event({
      id: `chatcmpl-${number}`,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  const speakCall = ({ name, input, raw, pieceChars }: Extract<SpokenPart, { type: "call" }>): readonly string[] => {
    const index = calls;
    calls += 1;
    const start = { index, id: `call_${number}_${index}`, type: "function", function: { name, arguments: "" } };
    const json = pieces(raw ?? JSON.stringify(input), pieceChars);
    return [
      chunk({ tool_calls: [start] }),
      ...json.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ];
  };
  return {
    begin: () => [chunk({ role: "assistant", content: "" })],
    speak(part) {
      switch (part.type) {
        case "text":
          return [chunk({ content: part.text })];
        case "reasoning":
          return [chunk({ reasoning_content: part.text })];
        case "refusal":
          return [chunk({ refusal: part.text })];
        case "call":
          return speakCall(part);
      }
    },
    raw: (data) => `data: ${data}\n\n`,
    end({ finish, usage = DEFAULT_USAGE }: StreamedAnswer) {
      const reason = finish ?? (calls > 0 ? "tool_calls" : "stop");
      return [
        chunk({}, reason),
        ...(usage === null ? [] : [event({ choices: [], usage: usageOf(usage) })]),
        "data: [DONE]\n\n",
      ];
    },
  };
}

function usageOf({ input, output, cached = 0, reasoning = 0 }: AnswerUsage) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
