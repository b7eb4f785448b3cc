import { expect, test } from "vitest";
import { summaryParts, summaryRequest } from "../../../agent-core/context/summary.ts";
import type { Message } from "../../../agent-core/messages/message.ts";
import { Conversation } from "../../../agent-core/sessions/conversation.ts";

function said(...messages: readonly Message[]): Conversation["transcript"] {
  const conversation = new Conversation();
  for (const message of messages) conversation.append(message);
  return conversation.transcript;
}

const questions = (count: number, length: number): Conversation["transcript"] =>
  said(
    ...Array.from(
      { length: count },
      (_, index): Message => ({ role: "user", content: `${index} ${"x".repeat(length)}` }),
    ),
  );

const lengthOf = (part: readonly string[]): number => part.join("\n\n").length;

test("messages that fit are one request", () => {
  const [part, ...others] = summaryParts(questions(10, 1_000), 20_000);
  expect(others).toEqual([]);
  expect(part?.[9]).toBe(`[user] 9 ${"x".repeat(1_000)}`);
});

test("longer conversations become several requests, in order and complete", () => {
  const parts = summaryParts(questions(50, 1_000), 10_000);
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.every((part) => lengthOf(part) <= 10_000)).toBe(true);
  expect(parts.flat().map((text) => Number(/\d+/.exec(text)?.[0]))).toEqual(Array.from({ length: 50 }, (_, at) => at));
});

test("messages are cut before the number of requests grows too far", () => {
  const parts = summaryParts(questions(50, 4_000), 10_000);
  expect(parts.length).toBeLessThanOrEqual(6);
  expect(parts.flat()).toHaveLength(50);
});

test("an answer with many long calls is cut", () => {
  const tool_calls = Array.from({ length: 10 }, (_, index) => ({
    id: `c${index}`,
    type: "function" as const,
    function: { name: "write_file", arguments: "y".repeat(5_000) },
  }));
  const parts = summaryParts(said({ role: "assistant", content: null, tool_calls }), 10_000);
  expect(parts.every((part) => lengthOf(part) <= 10_000)).toBe(true);
});

test("the text next to an image is included", () => {
  const content = [
    { type: "text", text: "This is the broken login page." },
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
  ] as const;
  const [part = []] = summaryParts(said({ role: "user", content }), 10_000);
  const [, asked] = summaryRequest({ part, earlier: null, maxTokens: 300, focus: undefined });
  expect(asked?.content).toContain("[user] This is the broken login page.\n[image]");
});
