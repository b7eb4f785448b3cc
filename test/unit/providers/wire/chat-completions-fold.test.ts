import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Message } from "../../../../agent-core/messages/message.ts";
import { finishFold, startFold, step, stepData } from "../../../../agent-core/providers/wire/chat-completions-fold.ts";
import type { ModelEvent } from "../../../../agent-core/providers/wire/wire.ts";
import { callsOf, transcript } from "../../../conformance/collect.ts";

function recorded(name: string): unknown[] {
  const url = new URL(`../../../recordings/chat-completions/${name}.jsonl`, import.meta.url);
  return readFileSync(url, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Made-up ids count up. */
function fold(chunks: readonly unknown[], messages: readonly Message[] = []): ModelEvent[] {
  let made = 0;
  let state = startFold(messages, () => `made_${made++}`);
  const events: ModelEvent[] = [];
  for (const chunk of chunks) {
    const next = step(state, chunk);
    state = next.state;
    events.push(...next.events);
  }
  return [...events, ...finishFold(state)];
}

const lines = (name: string): readonly string[] => transcript(fold(recorded(name)));

const delta = (more: Record<string, unknown>, finish: string | null = null) => ({
  choices: [{ index: 0, delta: more, finish_reason: finish }],
});
const piece = (more: Record<string, unknown>) => delta({ tool_calls: [more] });
const finish = (reason: string) => delta({}, reason);

describe("recorded streams", () => {
  test("OpenAI: parallel calls, the first ends when the second begins; usage in a chunk without choices", () => {
    expect(lines("openai-parallel-calls")).toEqual([
      "start 0 call_a read_file",
      'delta 0 {"pa',
      'delta 0 th":"a"}',
      'end 0 call_a read_file {"path":"a"}',
      "start 1 call_b read_file",
      'delta 1 {"path":"b"}',
      'end 1 call_b read_file {"path":"b"}',
      "finish tool_calls 812(768) 46(0)",
    ]);
  });

  test("OpenAI: a refusal is text, and the reason", () => {
    expect(lines("openai-refusal")).toEqual([
      `text "I'm sorry, "`,
      `text "I can't help with that."`,
      "finish refusal ?",
    ]);
  });

  test("Azure: a first chunk without choices, and a content filter that ends the answer", () => {
    expect(lines("azure-content-filter")).toEqual(['text "Once"', "finish refusal ?"]);
  });

  test("OpenRouter: reasoning is shown once, and its parts are joined for the way back", () => {
    const events = fold(recorded("openrouter-reasoning"));
    expect(transcript(events)).toEqual([
      'reasoning "Let me "',
      'reasoning "look."',
      'text "Done."',
      "finish stop 30(0) 25(18)",
    ]);
    expect(events.at(-1)).toMatchObject({
      reasoningDetails: [
        {
          type: "reasoning.text",
          text: "Let me look.",
          signature: "EqQBCkYIBxgCKkA=",
          format: "anthropic-claude-v1",
          index: 0,
        },
        { type: "reasoning.encrypted", data: "gAAAA", id: "rs_1", format: "openai-responses-v1", index: 1 },
      ],
    });
  });

  test("OpenRouter: an error in the middle of the stream throws with what it said", () => {
    expect(() => fold(recorded("openrouter-error-in-stream"))).toThrow("Provider returned error");
  });

  test("DeepSeek: reasoning_content, and its own count of cached tokens", () => {
    expect(lines("deepseek-reasoner")).toEqual(['reasoning "First"', 'text "42"', "finish stop 18(16) 110(100)"]);
  });

  test("Ollama: whole calls in one chunk each, all with index 0, and stop as the reason", () => {
    expect(lines("ollama-whole-calls")).toEqual([
      'reasoning "Two files."',
      "start 0 call_x1 read_file",
      'delta 0 {"path":"a"}',
      'end 0 call_x1 read_file {"path":"a"}',
      "start 1 call_x2 read_file",
      'delta 1 {"path":"b"}',
      'end 1 call_x2 read_file {"path":"b"}',
      "finish tool_calls ?",
    ]);
  });

  test("Gemini: two calls in one chunk without index and id are given ids", () => {
    expect(lines("gemini-no-index")).toEqual([
      "start 0 made_0 list",
      "delta 0 {}",
      "end 0 made_0 list {}",
      "start 1 made_1 read_file",
      'delta 1 {"path":"a"}',
      'end 1 made_1 read_file {"path":"a"}',
      "finish tool_calls 11(0) 22(0)",
    ]);
  });

  test("vLLM: a new id with every piece is still one call", () => {
    expect(lines("vllm-new-id-each-piece")).toEqual([
      "start 0 chatcmpl-tool-1 terminal",
      'delta 0 {"command": ',
      'delta 0 "ls"}',
      'end 0 chatcmpl-tool-1 terminal {"command": "ls"}',
      "finish tool_calls ?",
    ]);
  });

  test("llama.cpp: a name that is repeated begins no second call", () => {
    expect(lines("llamacpp-name-repeated")).toEqual([
      'reasoning "ok"',
      "start 0 call_0 terminal",
      'delta 0 {"command":',
      'delta 0 "ls"}',
      'end 0 call_0 terminal {"command":"ls"}',
      "finish tool_calls ?",
    ]);
  });

  test("a server that does not stream: one chunk with the whole message", () => {
    expect(lines("not-streamed")).toEqual([
      'text "All at once."',
      "start 0 call_n list",
      "end 0 call_n list {}",
      "finish tool_calls 5(0) 6(0)",
    ]);
  });

  test("halves of a character wait for each other; a lost half is replaced", () => {
    expect(lines("halves-of-characters")).toEqual([
      'text "wave "',
      'text "👋"',
      'text " lost "',
      'text "\u{fffd}"',
      "finish stop ?",
    ]);
    const call = piece({ index: 0, id: "a", function: { name: "x", arguments: "{}" } });
    const events = fold([delta({ content: "a\ud83d" }), call, delta({ content: "\ude00b" }, "stop")]);
    expect(transcript(events).filter((line) => line.startsWith("text"))).toEqual(['text "a"', 'text "😀b"']);
  });
});

describe("tool calls", () => {
  test("end with the brace that closes their arguments; empty ones end with the next chunk", () => {
    let state = startFold([]);
    const seen: ModelEvent[][] = [];
    const chunks = [
      piece({ index: 0, id: "a", function: { name: "read_file", arguments: '{"path":"{}"' } }),
      piece({ index: 0, function: { arguments: "}" } }),
      piece({ index: 1, id: "b", function: { name: "list", arguments: "{}" } }),
      delta({ content: "Meanwhile" }),
    ];
    for (const chunk of chunks) {
      const next = step(state, chunk);
      state = next.state;
      seen.push([...next.events]);
    }
    expect(seen.map(callsOf)).toEqual([[], [["read_file", '{"path":"{}"}']], [], [["list", "{}"]]]);
  });

  test.each([
    ["braces and quotation marks in a string", ['{"a":"}{', '\\"]', '}"', "}"]],
    ["an escaped character in two pieces", ['{"a":"\\', '\\"', "}"]],
    ["nested values", ['{"a":[{', "}]", ',"b":{}', "}"]],
  ])("end with the last piece of their arguments only: %s", (_, pieces) => {
    let state = startFold([]);
    const ends = pieces.map((text, position) => {
      const name = position === 0 ? { name: "x" } : {};
      const next = step(state, piece({ index: 0, id: "a", function: { ...name, arguments: text } }));
      state = next.state;
      return callsOf(next.events).length;
    });
    expect(ends).toEqual(pieces.map((_piece, position) => (position === pieces.length - 1 ? 1 : 0)));
  });

  test("repeated whole at the end are one call; a call that goes on after its end is an error", () => {
    const whole = piece({ index: 0, id: "a", function: { name: "x", arguments: '{"n":1}' } });
    const repeated = piece({ index: 0, function: { arguments: '{"n":1}' } });
    expect(callsOf(fold([whole, repeated, finish("tool_calls")]))).toEqual([["x", '{"n":1}']]);
    expect(() => fold([whole, piece({ index: 0, function: { arguments: "}" } })])).toThrow("went on after its end");
  });

  test("interleave when a server sends them so", () => {
    const events = fold([
      piece({ index: 0, id: "a", function: { name: "x", arguments: '{"n":' } }),
      piece({ index: 1, id: "b", function: { name: "y", arguments: '{"n":' } }),
      piece({ index: 0, function: { arguments: "1}" } }),
      piece({ index: 1, function: { arguments: "2}" } }),
      finish("tool_calls"),
    ]);
    expect(callsOf(events)).toEqual([
      ["x", '{"n":1}'],
      ["y", '{"n":2}'],
    ]);
  });

  test("are given another id when the conversation has theirs already, or the answer itself", () => {
    const earlier: Message = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_0", type: "function", function: { name: "x", arguments: "{}" } }],
    };
    const chunks = [
      piece({ index: 0, id: "call_0", function: { name: "x", arguments: "{}" } }),
      piece({ index: 1, id: "same", function: { name: "x", arguments: "{}" } }),
      piece({ index: 2, id: "same", function: { name: "x", arguments: "{}" } }),
      finish("stop"),
    ];
    const ids = fold(chunks, [earlier]).flatMap((event) => (event.type === "tool-call-end" ? [event.call.id] : []));
    expect(ids).toEqual(["made_0", "same", "made_1"]);
  });

  test("begin when their name is known, with what came before it", () => {
    const events = fold([
      piece({ index: 0, id: "a", function: { arguments: '{"n"' } }),
      piece({ index: 0, function: { name: "x", arguments: ":1}" } }),
      finish("tool_calls"),
    ]);
    expect(transcript(events).slice(0, 2)).toEqual(["start 0 a x", 'delta 0 {"n":1}']);
  });

  test("may have their arguments as an object, or none", () => {
    const events = fold([
      piece({ index: 0, id: "a", function: { name: "x", arguments: { n: 1 } } }),
      piece({ index: 1, id: "b", function: { name: "y", arguments: null } }),
      finish("tool_calls"),
    ]);
    expect(callsOf(events)).toEqual([
      ["x", '{"n":1}'],
      ["y", "{}"],
    ]);
  });

  test("that end for length are given as they are, with the reason", () => {
    const events = fold([piece({ index: 0, id: "a", function: { name: "x", arguments: '{"n":' } }), finish("length")]);
    expect(callsOf(events)).toEqual([["x", '{"n":']]);
    expect(events.at(-1)).toMatchObject({ reason: "length" });
  });

  test("that go on after their end are an error, never two meanings of one call", () => {
    const whole = piece({ index: 0, id: "a", function: { name: "x", arguments: '{"n":1}' } });
    const more = piece({ index: 0, function: { arguments: ',"m":2}' } });
    expect(() => fold([whole, delta({ content: "and" }), more])).toThrow("went on after its end");
  });
});

test("nulls, empty choices and unknown fields are passed over", () => {
  const chunks = [
    {},
    { choices: null, usage: null, error: null, x_new: { a: 1 } },
    { choices: [] },
    { choices: [{}] },
    delta({ content: null, tool_calls: null, reasoning: null, role: "assistant" }),
    { choices: [{ delta: null, finish_reason: "" }] },
    delta({ content: "x" }, "eos"),
  ];
  expect(transcript(fold(chunks))).toEqual(['text "x"', "finish stop ?"]);
});

test("a stream that never says why it ended has no end", () => {
  expect(transcript(fold([delta({ content: "I was" })]))).toEqual(['text "I was"']);
});

test("a state is never changed: the same chunk gives the same events again", () => {
  const state = startFold([]);
  const chunk = piece({ index: 0, id: "a", function: { name: "x", arguments: "{" } });
  const first = step(state, chunk);
  step(first.state, piece({ index: 0, function: { arguments: "}" } }));
  expect(step(state, chunk).events).toEqual(first.events);
  expect(callsOf([...step(first.state, finish("stop")).events])).toEqual([["x", "{"]]);
});

describe("the reason of the end", () => {
  const ended = (reason: string, more: Record<string, unknown> = { content: "Half" }) =>
    fold([delta(more), finish(reason)]);

  test.each(["stop", "eos_token", "COMPLETE", "STOP", "end_turn"])(
    "%s ends a whole answer without a word",
    (reason) => {
      expect(ended(reason)).toMatchObject([{ type: "text-delta" }, { type: "finish", reason: "stop" }]);
    },
  );

  test.each(["length", "MAX_TOKENS", "model_length", "max_output_tokens", "token_limit", "time_limit"])(
    "%s is a limit",
    (reason) => {
      expect(ended(reason).at(-1)).toMatchObject({ type: "finish", reason: "length" });
    },
  );

  test.each(["max_turns", "concurrency_limit", "TOO_MANY_TOOL_CALLS", "tool_not_found", "endless"])(
    "%s neither continues an answer, nor announces calls, nor ends it without a word",
    (reason) => {
      expect(ended(reason)).toMatchObject([{ type: "text-delta" }, { type: "notice" }, { reason: "stop" }]);
    },
  );

  test.each(["content_filter", "sensitive", "SAFETY", "IMAGE_SAFETY", "ERROR_TOXIC", "guardrail_intervened"])(
    "%s is a refusal",
    (reason) => {
      expect(ended(reason).at(-1)).toMatchObject({ type: "finish", reason: "refusal" });
    },
  );

  test.each([
    "error",
    "network_error",
    "malformed_model_output",
    "OTHER",
    "USER_CANCEL",
    "insufficient_system_resource",
    "rate_limited",
    "usage_limit_reached",
    "quota_exceeded",
    "budget_exceeded",
    "deadline_exceeded",
  ])("%s is a fault, since the answer is half", (reason) => {
    expect(() => ended(reason)).toThrow(/stopped in the middle|ran out/);
  });

  test.each(["stop; max_tokens=100", "stop: </error>", "eos: length 20", "end_turn/refusal"])(
    "the first word of %s says that the answer is whole",
    (reason) => {
      expect(ended(reason)).toMatchObject([{ type: "text-delta" }, { type: "finish", reason: "stop" }]);
    },
  );

  test.each(["pad", "repetition_detected", "LANGUAGE", "IMAGE_OTHER", "unspecified"])(
    "%s is unknown, and a line says so",
    (reason) => {
      const [, notice, last] = ended(reason);
      expect(notice).toMatchObject({
        type: "notice",
        message: expect.stringContaining(`(${reason}). Send "continue"`),
      });
      expect(last).toMatchObject({ type: "finish", reason: "stop" });
      const called = ended(reason, {
        tool_calls: [{ index: 0, id: "a", function: { name: "list", arguments: "{}" } }],
      });
      expect(called.filter(({ type }) => type === "notice")).toEqual([]);
    },
  );
});

describe("answers in forms of their own", () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  test.each([
    [
      "Moonshot: usage in the choice",
      { choices: [{ index: 0, delta: {}, finish_reason: "stop", usage }] },
      "finish stop 3(0) 2(0)",
    ],
    ["Groq: usage in a part of its own", { ...finish("stop"), x_groq: { usage } }, "finish stop 3(0) 2(0)"],
    [
      "usage by other names",
      { ...finish("stop"), usage: { input_tokens: 3, output_tokens: 2 } },
      "finish stop 3(0) 2(0)",
    ],
    ["Copilot: reasoning by its own name", delta({ reasoning_text: "hm" }, "stop"), 'reasoning "hm"'],
    ["a part as the content", delta({ content: { type: "text", text: "hi" } }, "stop"), 'text "hi"'],
    ["texts as the content", delta({ content: ["h", "i"] }, "stop"), 'text "hi"'],
    ["a number as the content", delta({ content: 5 }, "stop"), 'text "5"'],
    ["completions", { choices: [{ index: 0, text: "hi", finish_reason: "stop" }] }, 'text "hi"'],
    ["a call that is announced and does not come", delta({ content: "hi" }, "tool_call"), "finish tool_calls ?"],
  ])("%s", (_, chunk, line) => {
    expect(transcript(fold([chunk]))).toContain(line);
  });

  test("a call of 2023, a number as its id, and a name in pieces", () => {
    const old = [
      delta({ function_call: { name: "read_file", arguments: "" } }),
      delta({ function_call: { arguments: "{}" } }),
    ];
    expect(callsOf(fold([...old, finish("function_call")]))).toHaveLength(1);
    const numbered = fold([piece({ index: 0, id: 7, function: { name: "a", arguments: "{}" } }), finish("stop")]);
    expect(transcript(numbered)[0]).toBe("start 0 7 a");
    const pieces = ["read_", "file"].map((name, at) =>
      piece({ index: 0, function: { name, arguments: at === 0 ? "" : "{}" } }),
    );
    expect(callsOf(fold([...pieces, finish("stop")]))).toEqual([["read_file", "{}"]]);
  });

  test("choices without numbers are parts of one answer, those with numbers are others", () => {
    const called = { tool_calls: [{ id: "t", function: { name: "a", arguments: "{}" } }] };
    const parts = [
      { message: { content: "hi" }, finish_reason: "tool_calls" },
      { message: called, finish_reason: "tool_calls" },
    ];
    expect(callsOf(fold([{ choices: parts }]))).toHaveLength(1);
    const second = { choices: [{ index: 1, delta: { content: "other" } }] };
    expect(transcript(fold([delta({ content: "one" }), second, finish("stop")]))).toEqual([
      'text "one"',
      "finish stop ?",
    ]);
  });

  test.each([
    ["words", "upstream connect error", "upstream connect error"],
    ["a code and words", '{"code":500,"msg":"no such path"}', "no such path"],
    ["MiniMax's words", '{"choices":null,"base_resp":{"status_msg":"login fail"}}', "login fail"],
    [
      "an error of the choice",
      '{"choices":[{"delta":{},"finish_reason":"error","error":{"message":"it is gone"}}]}',
      "it is gone",
    ],
  ])("%s in place of an answer explain the fault", (_, data, words) => {
    const failing = (): unknown => finishFold(stepData(startFold([]), data).state);
    expect(failing).toThrow();
    const said = (): string => {
      try {
        return String(failing());
      } catch (error) {
        return JSON.stringify(error);
      }
    };
    expect(said()).toContain(words);
  });

  test("words that keep the connection alive are no part of the answer", () => {
    const { state } = stepData(stepData(startFold([]), "ping").state, JSON.stringify(delta({ content: "hi" }, "stop")));
    expect(transcript([...finishFold(state)])).toEqual(["finish stop ?"]);
  });
});
