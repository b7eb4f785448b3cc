import { expect, test } from "vitest";
import { digest } from "../../../agent-core/context/summary.ts";
import { Conversation } from "../../../agent-core/sessions/conversation.ts";

function exchanges(from: number, count: number): Conversation["transcript"] {
  const conversation = new Conversation();
  for (let index = from; index < from + count; index++) {
    conversation.append({ role: "user", content: `Question ${index}: ${"what about it ".repeat(10)}` });
    conversation.append({ role: "assistant", content: `Answer ${index}: ${"many words ".repeat(40)}` });
  }
  return conversation.transcript;
}

test("the user's requests keep their space next to long answers", () => {
  const text = digest(exchanges(0, 50), null, 1_200);
  expect(text.length).toBeLessThanOrEqual(1_200);
  expect(text).toContain("The user asked:\n");
  expect(text).toContain("Question 49");
  expect(text).toContain("Said:\n");
  expect(text).toMatch(/^The user asked:\n- \(\d+ earlier ones\)\n/);
});

test("repeated digests stay within the limit, and keep the beginning", () => {
  let text: string | null = "The goal is a lighthouse.";
  for (let round = 0; round < 50; round++) {
    text = digest(exchanges(round * 20, 20), text, 4_000);
    expect(text.length).toBeLessThanOrEqual(4_000);
  }
  expect(text).toContain("The goal is a lighthouse.");
  expect(text).toContain("Question 999");
});
