import { expect, test } from "vitest";
import { joinDeltas } from "../../../../agent-core/providers/wire/fold-response.ts";
import type { ModelEvent } from "../../../../agent-core/providers/wire/wire.ts";

const text = (words: string): ModelEvent => ({ type: "text-delta", text: words });
const thought = (words: string): ModelEvent => ({ type: "reasoning-delta", text: words });
const piece = (index: number, words: string): ModelEvent => ({ type: "tool-call-delta", index, text: words });

test("neighbours of one kind become one, in their order", () => {
  expect(joinDeltas([thought("a"), thought("b"), text("c"), text("d"), thought("e"), text("f")])).toEqual([
    thought("ab"),
    text("cd"),
    thought("e"),
    text("f"),
  ]);
});

test("pieces of different calls stay apart", () => {
  expect(joinDeltas([piece(0, "a"), piece(0, "b"), piece(1, "c"), piece(0, "d")])).toEqual([
    piece(0, "ab"),
    piece(1, "c"),
    piece(0, "d"),
  ]);
});

test("an update that is no delta stays where it is", () => {
  const start: ModelEvent = { type: "tool-call-start", index: 0, id: "c", name: "n" };
  expect(joinDeltas([text("a"), start, text("b")])).toEqual([text("a"), start, text("b")]);
  expect(joinDeltas([])).toEqual([]);
});
