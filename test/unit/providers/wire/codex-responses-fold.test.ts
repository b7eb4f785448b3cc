import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Message } from "../../../../agent-core/messages/message.ts";
import { finishFold, startFold, step } from "../../../../agent-core/providers/wire/codex-responses-fold.ts";
import type { ModelEvent } from "../../../../agent-core/providers/wire/wire.ts";
import { callsOf, joined, transcript } from "../../../conformance/collect.ts";

type Raw = Readonly<Record<string, unknown>>;

function recorded(name: string): Raw[] {
  const url = new URL(`../../../recordings/codex-responses/${name}.jsonl`, import.meta.url);
  return readFileSync(url, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Made-up ids count up. */
function fold(raws: readonly unknown[], messages: readonly Message[] = []): ModelEvent[] {
  let made = 0;
  let state = startFold(messages, () => `made_${made++}`);
  const events: ModelEvent[] = [];
  for (const raw of raws) {
    const next = step(state, raw);
    state = next.state;
    events.push(...next.events);
  }
  return [...events, ...finishFold(state)];
}

const lines = (name: string): readonly string[] => transcript(fold(recorded(name)));
const detailsOf = (events: readonly ModelEvent[]): unknown => {
  const last = events.at(-1);
  return last?.type === "finish" ? last.reasoningDetails : last;
};

const added = (output_index: number, item: Raw) => ({ type: "response.output_item.added", output_index, item });
const done = (output_index: number, item: Raw) => ({ type: "response.output_item.done", output_index, item });
const text = (output_index: number, delta: string) => ({ type: "response.output_text.delta", output_index, delta });
const json = (output_index: number, delta: string) => ({
  type: "response.function_call_arguments.delta",
  output_index,
  delta,
});
const jsonDone = (output_index: number, whole: string) => ({
  type: "response.function_call_arguments.done",
  output_index,
  arguments: whole,
});
const calling = (call_id: string, name: string) => ({ type: "function_call", id: `fc_${call_id}`, call_id, name });
const completed = { type: "response.completed", response: { status: "completed", output: [] } };

describe("recorded streams", () => {
  test("gpt-5: a summary in two parts, and parallel calls that each end when they are done", () => {
    const events = fold(recorded("gpt-5-parallel-calls"));
    expect(transcript(events)).toEqual([
      'reasoning "**Reading"',
      'reasoning "** both"',
      'reasoning "\\n\\n**Then** compare"',
      "start 0 call_a read_file",
      'delta 0 {"pa',
      'delta 0 th":"a"}',
      'end 0 call_a read_file {"path":"a"}',
      "start 1 call_b read_file",
      'delta 1 {"path":',
      'delta 1 "b"}',
      'end 1 call_b read_file {"path":"b"}',
      "finish tool_calls 812(768) 110(64)",
    ]);
    expect(detailsOf(events)).toEqual([
      {
        type: "reasoning",
        id: "rs_68a1",
        encrypted_content: "gAAAAABo1sealed",
        summary: [
          { type: "summary_text", text: "**Reading** both" },
          { type: "summary_text", text: "**Then** compare" },
        ],
      },
      { type: "function_call", id: "fc_68a1", call_id: "call_a" },
      { type: "function_call", id: "fc_68a2", call_id: "call_b" },
    ]);
  });

  test("codex: commentary, more reasoning, commentary and a call keep their order", () => {
    const events = fold(recorded("codex-commentary-and-call"));
    expect(joined(events, "text-delta")).toBe("Let me look.\n\nReading it.");
    expect(detailsOf(events)).toMatchObject([
      { type: "reasoning", id: "rs_1" },
      { type: "message", id: "msg_1", phase: "commentary", chars: "Let me look.".length },
      { type: "reasoning", id: "rs_2" },
      { type: "message", id: "msg_2", phase: "commentary", chars: "Reading it.".length },
      { type: "function_call", id: "fc_1", call_id: "call_1" },
    ]);
    expect(events.at(-1)).toMatchObject({ reason: "tool_calls" });
  });

  test("a refusal is text, and the reason", () => {
    expect(lines("openai-refusal")).toEqual([
      `text "I'm sorry, "`,
      `text "I can't help with that."`,
      "finish refusal 20(0) 12(0)",
    ]);
  });

  test("an answer that reached its ceiling", () => {
    expect(lines("max-output-tokens")).toEqual(['text "Once upon"', "finish length 20(0) 16(0)"]);
    expect(lines("max-output-tokens-in-reasoning")).toEqual(['reasoning "Hm"', "finish length 20(0) 16(16)"]);
  });

  test("an answer that a filter ended", () => {
    expect(lines("content-filter")).toEqual(['text "Once"', "finish refusal ?"]);
  });

  const failures: readonly (readonly [string, string, string])[] = [
    ["failed", "Rate limit reached", "rate_limit_exceeded"],
    ["error-event", "The server had an error", "server_error"],
    ["error-event-nested", "exceeds the context window", "context_length_exceeded"],
  ];
  test.each(failures)("%s: throws with what the provider said, and its code", (name, words, code) => {
    expect(() => fold(recorded(name))).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(words),
        error: expect.objectContaining({ code }),
      }),
    );
  });

  test("item ids that differ in every event matter to nobody", () => {
    expect(lines("rotating-item-ids")).toEqual([
      "start 0 call_a list",
      'delta 0 {"path":',
      'delta 0 "."}',
      'end 0 call_a list {"path":"."}',
      "finish tool_calls 9(0) 8(0)",
    ]);
  });

  test("open models: the reasoning itself is shown, and not kept because it is not sealed", () => {
    const events = fold(recorded("open-model-reasoning-text"));
    expect(transcript(events)).toEqual([
      'reasoning "User wants "',
      'reasoning "a greeting."',
      'text "Hello!"',
      "finish stop 70(0) 20(9)",
    ]);
    expect(detailsOf(events)).toBeUndefined();
  });

  test("items without deltas are taken from their end, once", () => {
    const whole = [
      'reasoning "Whole thought"',
      'text "Whole text."',
      "start 0 call_w list",
      "delta 0 {}",
      "end 0 call_w list {}",
      "finish tool_calls 5(0) 6(2)",
    ];
    expect(lines("whole-items")).toEqual(whole);
    expect(lines("not-streamed")).toEqual(whole);
    expect(detailsOf(fold(recorded("not-streamed")))).toEqual(detailsOf(fold(recorded("whole-items"))));
  });

  test("halves of a character wait for each other; a lost half is replaced", () => {
    expect(lines("halves-of-characters")).toEqual([
      'text "wave "',
      'text "👋"',
      'text " lost "',
      'text "\u{fffd}"',
      "finish stop ?",
    ]);
  });
});

describe("tool calls", () => {
  test("end with their arguments, before their item is done and before the next one begins", () => {
    let state = startFold([]);
    const seen = [added(0, calling("a", "x")), json(0, '{"n":1'), jsonDone(0, '{"n":1}'), completed].map((raw) => {
      const next = step(state, raw);
      state = next.state;
      return callsOf(next.events);
    });
    expect(seen).toEqual([[], [], [["x", '{"n":1}']], []]);
  });

  test("end with their item where nobody says that the arguments are done", () => {
    const events = fold([
      added(0, calling("a", "x")),
      json(0, '{"n":1}'),
      done(0, { ...calling("a", "x"), arguments: '{"n":1}' }),
    ]);
    expect(callsOf(events)).toEqual([["x", '{"n":1}']]);
  });

  test("interleave when a server sends them so", () => {
    const events = fold([
      added(0, calling("a", "x")),
      added(1, calling("b", "y")),
      json(0, '{"n":'),
      json(1, '{"n":'),
      json(0, "1}"),
      json(1, "2}"),
      jsonDone(0, '{"n":1}'),
      jsonDone(1, '{"n":2}'),
      completed,
    ]);
    expect(transcript(events).filter((line) => !line.startsWith("delta"))).toEqual([
      "start 0 a x",
      "start 1 b y",
      'end 0 a x {"n":1}',
      'end 1 b y {"n":2}',
      "finish tool_calls ?",
    ]);
  });

  test("are given another id when the conversation has theirs already, and their item goes by that one", () => {
    const earlier: Message = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_0", type: "function", function: { name: "x", arguments: "{}" } }],
    };
    const sealed = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "g" };
    const events = fold(
      [done(0, sealed), done(1, { ...calling("call_0", "x"), arguments: "{}" }), completed],
      [earlier],
    );
    expect(transcript(events)).toContain("end 0 made_0 x {}");
    expect(detailsOf(events)).toMatchObject([{ type: "reasoning" }, { type: "function_call", call_id: "made_0" }]);
  });

  test("without arguments have an empty object", () => {
    expect(callsOf(fold([done(0, { ...calling("a", "x"), arguments: "" }), completed]))).toEqual([["x", "{}"]]);
  });

  test("that are cut by the ceiling are given as they are, with the reason", () => {
    const incomplete = {
      type: "response.incomplete",
      response: { incomplete_details: { reason: "max_output_tokens" } },
    };
    const half = [added(0, calling("a", "x")), json(0, '{"n":'), jsonDone(0, '{"n":')];
    expect(callsOf(fold([...half, done(0, { ...calling("a", "x"), arguments: '{"n":' })]))).toEqual([]);
    const events = fold([...half, incomplete]);
    expect(callsOf(events)).toEqual([["x", '{"n":']]);
    expect(events.at(-1)).toMatchObject({ reason: "length" });
  });

  test("that go on after their end are an error, never two meanings of one call", () => {
    const raws = [added(0, calling("a", "x")), jsonDone(0, '{"n":1}'), json(0, ',"m":2}')];
    expect(() => fold(raws)).toThrow("went on after its end");
  });
});

describe("events", () => {
  test("that nobody knows are passed over, and so are items of tools that ran at the provider", () => {
    const events = fold([
      { type: "response.created", response: {} },
      { type: "keepalive" },
      { type: "response.telepathy.delta", output_index: "none", delta: 7 },
      added(0, { type: "web_search_call", id: "ws_1", status: "in_progress" }),
      done(0, { type: "web_search_call", id: "ws_1", action: null }),
      text(1, "x"),
      completed,
    ]);
    expect(transcript(events)).toEqual(['text "x"', "finish stop ?"]);
  });

  const malformed: readonly unknown[] = [
    null,
    [],
    "text",
    {},
    { type: 7 },
    { type: "response.output_text.delta", output_index: 0 },
    { type: "response.output_text.delta", delta: "x" },
    { type: "response.output_item.done", output_index: 0 },
    { type: "response.output_item.done", output_index: 0, item: { type: "function_call", arguments: {} } },
    { type: "response.completed" },
    { type: "response.completed", response: { output: "none" } },
  ];
  test.each(malformed)("that are none throw: %j", (raw) => {
    expect(() => fold([raw])).toThrow();
  });

  test("after the end are passed over", () => {
    expect(transcript(fold([text(0, "x"), completed, text(0, "y"), completed]))).toEqual(['text "x"', "finish stop ?"]);
  });
});

test("a stream that never says that the response is over has no end", () => {
  expect(transcript(fold([text(0, "I was"), done(0, { type: "message", content: [] })]))).toEqual(['text "I was"']);
});

test("a state is never changed: the same event gives the same events again", () => {
  const state = startFold([]);
  const first = step(state, added(0, calling("a", "x")));
  step(first.state, json(0, '{"n":1}'));
  expect(step(state, added(0, calling("a", "x"))).events).toEqual(first.events);
  expect(callsOf(step(first.state, jsonDone(0, "{}")).events)).toEqual([["x", "{}"]]);
});
