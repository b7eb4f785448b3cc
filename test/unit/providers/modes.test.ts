/** One conversation that moves from API to API: each gets a request that is valid for it, whoever answered before. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AssistantMessage, Message, ToolCall } from "../../../agent-core/messages/message.ts";
import { repairMessages } from "../../../agent-core/messages/repair.ts";
import { streamModel } from "../../../agent-core/providers/stream-model.ts";
import { table } from "../../../agent-core/providers/wire/table.gen.ts";
import type { ApiMode, ModelEvent } from "../../../agent-core/providers/wire/wire.ts";
import { collect, joined } from "../../conformance/collect.ts";
import { requestRules } from "../../conformance/request-rules.ts";
import { requestTo } from "../../conformance/wire.ts";
import { call, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";

/** Models that reason, so that there is reasoning to be taken along or left behind. */
const models: { readonly [Mode in ApiMode]?: string } = {
  chat_completions: "openai/gpt-5",
  codex_responses: "gpt-5",
  anthropic_messages: "claude-sonnet-4-5",
};
/** Not over HTTP: one is no model, the other is asked through the editor. */
const withoutApi: readonly ApiMode[] = ["offline", "editor_model"];

const wires = await Promise.all(Object.values(table).map((load) => load()));
const modes = wires.map(({ mode }) => mode).filter((mode) => !withoutApi.includes(mode));
const tools = [{ name: "read_file", description: "Read.", parameters: { type: "object", properties: {} } }];

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.stop());

/** Asks one mode, and adds its answer and the results of its calls to the conversation. */
async function converse(history: Message[], mode: ApiMode): Promise<void> {
  const request = requestTo(server, { model: models[mode] ?? mode, messages: repairMessages(history), tools });
  const message = messageOf(await collect(streamModel(request, mode, new AbortController().signal)));
  history.push(message);
  for (const { id } of message.tool_calls ?? []) history.push({ role: "tool", tool_call_id: id, content: `of ${id}` });
}

/** As the agent keeps an answer. */
function messageOf(events: readonly ModelEvent[]): AssistantMessage {
  const last = events.at(-1);
  if (last?.type !== "finish") throw new Error(`no answer but ${JSON.stringify(last)}`);
  const calls: readonly ToolCall[] = events.flatMap((event) => (event.type === "tool-call-end" ? [event.call] : []));
  return {
    role: "assistant",
    content: joined(events, "text-delta") || null,
    ...(calls.length > 0 && { tool_calls: calls }),
    reasoning: joined(events, "reasoning-delta"),
    ...(last.reasoningDetails && { reasoning_details: last.reasoningDetails }),
  };
}

/** Text, reasoning before it and after it, and two calls at once. */
const answer = (words: string) => ({
  parts: [
    { type: "reasoning", text: `Thinking of ${words}.` },
    { type: "text", text: `Looking at ${words}.` },
    { type: "reasoning", text: "Both at once." },
    call("read_file", { path: "a" }),
    call("read_file", { path: "b" }),
  ] as const,
});

/** Earlier messages: an image, and an answer with ids and reasoning that only its provider accepts. */
function imported(): Message[] {
  const ids = [`functions.read_file:0/${"x".repeat(80)}`, "functions.read_file:1"];
  return [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
      ],
    },
    {
      role: "assistant",
      content: null,
      reasoning: "Hm.",
      reasoning_details: [
        { type: "reasoning.text", text: "Hm.", format: "unknown", index: 0 },
        { type: "telepathy", vision: "gAAAA" },
      ],
      tool_calls: ids.map((id) => ({
        id,
        type: "function",
        function: { name: "read_file", arguments: '{"path":' },
      })),
    },
    ...ids.map((tool_call_id) => ({ role: "tool", tool_call_id, content: "" }) as const),
  ];
}

function permutations<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) => permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]));
}

test("each wire is registered under its own mode", () => {
  expect(wires.map(({ mode }) => mode)).toEqual(Object.keys(table));
});

test("every API over HTTP has its rules", () => {
  expect(modes.filter((mode) => requestRules[mode] === undefined || models[mode] === undefined)).toEqual([]);
  expect(modes.length).toBeGreaterThan(1);
});

describe.each(permutations(modes).map((order) => ({ order, name: order.join(" → ") })))(
  "$name, and back",
  ({ order }) => {
    const [first = "offline"] = order;

    test("each request is valid for its API, and the conversation continues", async () => {
      const history = imported();
      for (const mode of order) {
        server.script(answer(mode));
        await converse(history, mode);
      }
      await converse(history, "offline");
      history.push({ role: "user", content: "And?" });
      server.script(say("Done."));
      await converse(history, first);
      expect(history.at(-1)).toMatchObject({ role: "assistant", content: "Done." });
      expect(server.requests.length).toBe(order.length + 1);
      for (const [index, { body }] of server.requests.entries()) requestRules[order[index] ?? first]?.(body);
      for (const words of order) expect(JSON.stringify(server.requests.at(-1)?.body)).toContain(`Looking at ${words}.`);
    });

    test("a part that an API sealed or signed goes back to it, and to no other", async () => {
      const history = imported();
      for (const mode of order) {
        server.script(answer(mode));
        await converse(history, mode);
      }
      server.script(say("Done."));
      await converse(history, first);
      const own = history.flatMap((message) =>
        message.role === "assistant" ? [message.reasoning_details ?? []] : [],
      )[1];
      const sealed = JSON.stringify(own).match(/"(?:encrypted_content|signature)":"[^"]+"/g) ?? [];
      expect(sealed.length).toBe(first === "chat_completions" ? 0 : 2);
      const [, ...others] = server.requests.map(({ body }) => JSON.stringify(body));
      const back = others.pop();
      for (const seal of sealed) {
        expect(back).toContain(seal);
        for (const other of others) expect(other).not.toContain(seal);
      }
    });
  },
);
