import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Message } from "../../../../agent-core/messages/message.ts";
import {
  type FoldState,
  finishFold,
  startFold,
  step,
} from "../../../../agent-core/providers/wire/anthropic-messages-fold.ts";
import type { ModelEvent } from "../../../../agent-core/providers/wire/wire.ts";
import { callsOf, joined, transcript } from "../../../conformance/collect.ts";

function recorded(name: string): unknown[] {
  const url = new URL(`../../../recordings/anthropic-messages/${name}.jsonl`, import.meta.url);
  return readFileSync(url, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Made-up ids count up. */
function fold(events: readonly unknown[], messages: readonly Message[] = []): ModelEvent[] {
  let made = 0;
  let state = startFold(messages, () => `made_${made++}`);
  const folded: ModelEvent[] = [];
  for (const event of events) {
    const next = step(state, event);
    state = next.state;
    folded.push(...next.events);
  }
  return [...folded, ...finishFold(state)];
}

const lines = (name: string): readonly string[] => transcript(fold(recorded(name)));

const textBlock = (text: string) => [
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
  { type: "content_block_stop", index: 0 },
];
const callStart = (index: number, id: string, name = "x") => ({
  type: "content_block_start",
  index,
  content_block: { type: "tool_use", id, name, input: {} },
});
const callPiece = (index: number, json: string) => ({
  type: "content_block_delta",
  index,
  delta: { type: "input_json_delta", partial_json: json },
});
const blockStop = (index: number) => ({ type: "content_block_stop", index });
const end = (reason: string | null) => [
  { type: "message_delta", delta: { stop_reason: reason } },
  { type: "message_stop" },
];

describe("recorded streams", () => {
  test("thinking, text and parallel calls; the usage of both events makes one", () => {
    const events = fold(recorded("thinking-then-parallel-calls"));
    expect(transcript(events)).toEqual([
      'reasoning "Both files "',
      'reasoning "at once."',
      'text "I read "',
      'text "them."',
      "start 0 toolu_01A read_file",
      'delta 0 {"path": "a',
      'delta 0 .ts"}',
      'end 0 toolu_01A read_file {"path": "a.ts"}',
      "start 1 toolu_01B list",
      "end 1 toolu_01B list {}",
      "finish tool_calls 1852(1800) 94(21)",
    ]);
    expect(events.at(-1)).toMatchObject({
      reasoningDetails: [{ type: "thinking", thinking: "Both files at once.", signature: "EqQBCkYIBxgCKkDw+/==" }],
    });
  });

  test("thinking between the text: place-holders keep the order, separate thoughts are shown apart", () => {
    const events = fold(recorded("thinking-between-text"));
    expect(joined(events, "reasoning-delta")).toBe("First.\n\nSecond.");
    expect(joined(events, "text-delta")).toBe("Well, now.");
    expect(events.at(-1)).toMatchObject({
      reasoningDetails: [
        { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix/LafPsn4a" },
        { type: "thinking", thinking: "First.", signature: "sigOne==" },
        { type: "anthropic.text", chars: 6 },
        { type: "thinking", thinking: "Second.", signature: "sigTwo==" },
        { type: "anthropic.text", chars: 4 },
        { type: "anthropic.tool_use" },
      ],
    });
  });

  test("thinking that is not shown is still signed, and kept", () => {
    const events = fold(recorded("thinking-omitted"));
    expect(transcript(events)).toEqual(['text "42"', "finish stop 3(0) 30(0)"]);
    expect(events.at(-1)).toMatchObject({
      reasoningDetails: [{ type: "thinking", thinking: "", signature: "EosnCkYICxIM" }],
    });
  });

  test("a refusal without a word is explained in the provider's", () => {
    expect(lines("refusal-without-text")).toEqual([
      'text "This request may enable cyber harm."',
      "finish refusal 9(0) 2(0)",
    ]);
  });

  test("a refusal in the middle leaves the words that were said", () => {
    expect(lines("refusal-in-the-middle")).toEqual(['text "First you"', "finish refusal 9(0) 12(0)"]);
  });

  test("an error in the middle throws with what it said", () => {
    expect(() => fold(recorded("overloaded-in-stream"))).toThrow("Overloaded");
  });

  test("a call that is cut by the ceiling ends with the reason, not with its block", () => {
    const events = fold(recorded("max-tokens-in-a-call"));
    expect(transcript(events).slice(-2)).toEqual([
      'end 0 toolu_07A write_file {"path":"a","content":"half',
      "finish length 9(0) 64(0)",
    ]);
  });

  test("a thought that is cut has no signature, and is not kept", () => {
    const events = fold(recorded("max-tokens-in-thinking"));
    expect(transcript(events)).toEqual(['reasoning "Let me see"', "finish length 9(0) 64(0)"]);
    expect(events.at(-1)).not.toHaveProperty("reasoningDetails");
  });

  test("blocks and deltas of other types are passed over; a pause is no end", () => {
    expect(lines("server-tool-paused")).toEqual(['text "Searching."', "finish length 9(0) 33(0)"]);
  });

  test("a compatible endpoint: unsigned thinking, input given whole, end_turn over a call, counts only at the end", () => {
    const events = fold(recorded("compatible-unsigned-thinking"));
    expect(transcript(events)).toEqual([
      'reasoning "Hm."',
      "start 0 call_00 read_file",
      'delta 0 {"path":"a"}',
      'end 0 call_00 read_file {"path":"a"}',
      "finish tool_calls 134(64) 11(0)",
    ]);
    expect(events.at(-1)).toMatchObject({ reasoningDetails: [{ type: "anthropic.thinking", thinking: "Hm." }] });
  });

  test("a server that does not stream: one document with the whole answer", () => {
    const events = fold(recorded("not-streamed"));
    expect(transcript(events)).toEqual([
      'reasoning "Hm."',
      'text "All at once."',
      "start 0 toolu_10A read_file",
      'delta 0 {"path":"a"}',
      'end 0 toolu_10A read_file {"path":"a"}',
      "start 1 toolu_10B list",
      "end 1 toolu_10B list {}",
      "finish tool_calls 5(1) 6(0)",
    ]);
    expect(events.at(-1)).toMatchObject({
      reasoningDetails: [{ type: "thinking", thinking: "Hm.", signature: "sigTen==" }],
    });
  });

  test("halves of a character wait for each other; a lost half is replaced; what is signed stays as it came", () => {
    const events = fold(recorded("halves-of-characters"));
    expect(transcript(events)).toEqual([
      'reasoning "wave "',
      'reasoning "👋"',
      'text "lost "',
      'text "\u{fffd}"',
      "finish stop ?",
    ]);
    expect(events.at(-1)).toMatchObject({ reasoningDetails: [{ thinking: "wave 👋", signature: "sigEleven" }] });
    const texts = [...textBlock("a\ud83d"), ...textBlock("\ude00b")];
    expect(joined(fold(texts), "text-delta")).toBe("a\ufffd\ufffdb");
  });
});

describe("tool calls", () => {
  test("end with the brace that closes their input, before the block and the answer do", () => {
    let state: FoldState = startFold([]);
    const seen: (readonly ModelEvent[])[] = [];
    const events = [callStart(0, "a"), callPiece(0, '{"n":'), callPiece(0, "1}"), blockStop(0)];
    for (const event of events) {
      const next = step(state, event);
      state = next.state;
      seen.push(next.events);
    }
    expect(seen.map(callsOf)).toEqual([[], [], [["x", '{"n":1}']], []]);
  });

  test("may begin with something that is no input", () => {
    const begun = { ...callStart(0, "a"), content_block: { type: "tool_use", id: "a", name: "x", input: "" } };
    expect(callsOf(fold([begun, callPiece(0, '{"n":1}'), blockStop(0), ...end("tool_use")]))).toEqual([
      ["x", '{"n":1}'],
    ]);
  });

  test("interleave when a server sends them so", () => {
    const events = fold([
      callStart(0, "a"),
      callStart(1, "b", "y"),
      callPiece(0, '{"n":'),
      callPiece(1, '{"n":'),
      callPiece(0, "1}"),
      callPiece(1, "2}"),
      blockStop(1),
      blockStop(0),
      ...end("tool_use"),
    ]);
    expect(callsOf(events)).toEqual([
      ["x", '{"n":1}'],
      ["y", '{"n":2}'],
    ]);
  });

  test("are given another id when the conversation has theirs already", () => {
    const earlier: Message = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_0", type: "function", function: { name: "x", arguments: "{}" } }],
    };
    const events = fold([callStart(0, "call_0"), blockStop(0), ...end("tool_use")], [earlier]);
    expect(transcript(events).at(-2)).toBe("end 0 made_0 x {}");
  });
});

describe("the end", () => {
  test.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["pause_turn", "length"],
    ["refusal", "refusal"],
    ["something_new", "stop"],
  ])("%s is %s", (given, reason) => {
    expect(fold([...textBlock("hi"), ...end(given)]).at(-1)).toMatchObject({ type: "finish", reason });
  });

  test("needs the last event: a reason alone is none", () => {
    const [reason] = end("end_turn");
    expect(transcript(fold([...textBlock("hi"), reason]))).toEqual(['text "hi"']);
  });

  test("may come without a reason, unless a call is half", () => {
    expect(transcript(fold([...textBlock("hi"), { type: "message_stop" }]))).toEqual(['text "hi"', "finish stop ?"]);
    const half = fold([callStart(0, "a"), callPiece(0, '{"n":'), blockStop(0), { type: "message_stop" }]);
    expect(transcript(half)).toEqual(["start 0 a x", 'delta 0 {"n":']);
  });
});

describe("events", () => {
  test.each([
    ["ping", { type: "ping" }],
    ["of a type still to be invented", { type: "mood_changed", mood: 7 }],
    ["for a block that never began", callPiece(9, "{}")],
    ["that begin a message without one", { type: "message_start" }],
    ["with nulls", { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: null } }],
  ])("%s are passed over", (_, event) => {
    expect(transcript(fold([event, ...textBlock("hi"), ...end("end_turn")]))).toEqual(['text "hi"', "finish stop ?"]);
  });

  test.each([
    ["without a type", { delta: {} }],
    ["with an index that is no number", { type: "content_block_stop", index: "0" }],
    ["without their block", { type: "content_block_start", index: 0 }],
    ["that are none", ["content_block_stop"]],
  ])("%s are refused", (_, event) => {
    expect(() => fold([event])).toThrow();
  });

  test("an error is one in whatever form a proxy gives it", () => {
    expect(() => fold([{ type: "error", error: { type: "api_error", message: "Internal" } }])).toThrow("Internal");
    expect(() => fold([{ error: "upstream gone" }])).toThrow("upstream gone");
  });
});

test("a state is never changed: the same event gives the same events again", () => {
  const state = step(startFold([]), callStart(0, "a")).state;
  const first = step(state, callPiece(0, "{"));
  step(first.state, callPiece(0, "}"));
  expect(step(state, callPiece(0, "{")).events).toEqual(first.events);
});
