/** Rules of each API for a request, as strict as its strictest server. A broken rule throws with the request's part. */
import { expect } from "vitest";
import * as z from "zod";
import type { ApiMode } from "../../agent-core/providers/wire/wire.ts";

type Rules = (body: unknown) => void;

const text = z.string().min(1);
const name = z.string().regex(/^[\w-]{1,64}$/);
const id = z.string().regex(/^[\w-]{1,64}$/);
const dataUrl = z.string().startsWith("data:image/");
const json = z.string().refine((value) => typeof JSON.parse(value) === "object", "no JSON object");

const chatCall = z.strictObject({
  id: z.string().min(1).max(40),
  type: z.literal("function"),
  function: z.strictObject({ name, arguments: json }),
});
const chatMessage = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: z.string() }),
  z.strictObject({
    role: z.literal("user"),
    content: z.union([
      text,
      z.array(
        z.discriminatedUnion("type", [
          z.strictObject({ type: z.literal("text"), text }),
          z.strictObject({ type: z.literal("image_url"), image_url: z.strictObject({ url: dataUrl }) }),
        ]),
      ),
    ]),
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.string().nullable(),
    tool_calls: z.array(chatCall).min(1).optional(),
    reasoning_details: z.array(z.looseObject({ type: z.string().startsWith("reasoning.") })).optional(),
    reasoning_content: z.string().optional(),
    reasoning: z.string().optional(),
  }),
  z.strictObject({ role: z.literal("tool"), tool_call_id: z.string(), content: z.string() }),
]);

const chatCompletions: Rules = (body) => {
  const { messages } = z.object({ messages: z.array(chatMessage) }).parse(body);
  for (const [index, message] of messages.entries()) {
    expect(message.role === "system", "the system prompt, and only that, comes first").toBe(index === 0);
    if (message.role !== "assistant") continue;
    const ids = (message.tool_calls ?? []).map((call) => call.id);
    expect(message.content !== null || ids.length > 0, "null stands only beside calls").toBe(true);
    const after = messages.slice(index + 1, index + 1 + ids.length);
    expect(after.map((next) => (next.role === "tool" ? next.tool_call_id : next.role))).toEqual(ids);
  }
  const results = messages.filter(({ role }) => role === "tool").length;
  expect(results, "no result without its call").toBe(
    messages.flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : [])).length,
  );
};

const responsesItem = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("reasoning"),
    id: z.string().startsWith("rs_"),
    summary: z.array(z.strictObject({ type: z.literal("summary_text"), text: z.string() })),
    encrypted_content: text,
  }),
  z.strictObject({
    type: z.literal("message"),
    role: z.enum(["user", "assistant"]),
    id: z.string().startsWith("msg_").max(64).optional(),
    status: z.literal("completed").optional(),
    phase: z.enum(["commentary", "final_answer"]).optional(),
    content: z.array(
      z.discriminatedUnion("type", [
        z.strictObject({ type: z.literal("input_text"), text }),
        z.strictObject({ type: z.literal("input_image"), image_url: dataUrl, detail: z.literal("auto") }),
        z.strictObject({ type: z.literal("output_text"), text, annotations: z.array(z.never()) }),
      ]),
    ),
  }),
  z.strictObject({
    type: z.literal("function_call"),
    id: z.string().startsWith("fc_").max(64).optional(),
    call_id: id,
    name,
    arguments: json,
  }),
  z.strictObject({ type: z.literal("function_call_output"), call_id: id, output: z.string() }),
]);

const codexResponses: Rules = (body) => {
  const { input } = z.object({ input: z.array(responsesItem), store: z.literal(false) }).parse(body);
  const open = new Set<string>();
  const seen = new Set<string>();
  for (const [index, item] of input.entries()) {
    const next = input[index + 1];
    if (item.type === "reasoning") {
      const isLed = next?.type === "reasoning" || next?.type === "function_call" || next?.type === "message";
      expect(isLed && !("role" in next && next.role === "user"), "reasoning stands before what it led to").toBe(true);
    } else if (item.type === "function_call") {
      expect(seen.has(item.call_id), "an id is used once").toBe(false);
      seen.add(item.call_id);
      open.add(item.call_id);
    } else if (item.type === "function_call_output") {
      expect(open.delete(item.call_id), "a result has its call").toBe(true);
    } else {
      const kinds = item.content.map(({ type }) => type.startsWith("output_"));
      expect(kinds.every((isOutput) => isOutput === (item.role === "assistant"))).toBe(true);
      if (item.role === "user") expect([...open], "calls without a result").toEqual([]);
    }
  }
  expect([...open], "calls without a result").toEqual([]);
};

const cache_control = z.strictObject({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).optional() }).optional();
const anthropicBlock = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string().regex(/\S/), cache_control }),
  z.strictObject({
    type: z.literal("image"),
    source: z.strictObject({ type: z.literal("base64"), media_type: z.string().startsWith("image/"), data: text }),
    cache_control,
  }),
  z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: text }),
  z.strictObject({ type: z.literal("redacted_thinking"), data: text }),
  z.strictObject({
    type: z.literal("tool_use"),
    id,
    name,
    input: z.record(z.string(), z.unknown()),
    cache_control,
  }),
  z.strictObject({ type: z.literal("tool_result"), tool_use_id: id, content: text.optional(), cache_control }),
]);
const anthropicMessage = z.strictObject({
  role: z.enum(["user", "assistant"]),
  content: z.array(anthropicBlock).min(1),
});

const anthropicMessages: Rules = (body) => {
  const { messages } = z.object({ messages: z.array(anthropicMessage), max_tokens: z.number().positive() }).parse(body);
  for (const [index, { role, content }] of messages.entries()) {
    expect(role, "in turn, the user first").toBe(index % 2 === 0 ? "user" : "assistant");
    const calls = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    const results = (messages[index + 1]?.content ?? []).flatMap((block) =>
      block.type === "tool_result" ? [block.tool_use_id] : [],
    );
    if (role === "assistant") {
      expect(results, "each call has its result in the next message").toEqual(calls);
      expect(
        content.some(({ type }) => !type.endsWith("thinking")),
        "thinking alone is no answer",
      ).toBe(true);
    }
    const firstOther = content.findIndex(({ type }) => type !== "tool_result");
    const lastResult = content.findLastIndex(({ type }) => type === "tool_result");
    if (firstOther >= 0) expect(lastResult, "results come first").toBeLessThan(firstOther);
  }
};

/** By API mode. A mode without an entry has no API over HTTP. */
export const requestRules: { readonly [Mode in ApiMode]?: Rules } = {
  chat_completions: chatCompletions,
  codex_responses: codexResponses,
  anthropic_messages: anthropicMessages,
};
