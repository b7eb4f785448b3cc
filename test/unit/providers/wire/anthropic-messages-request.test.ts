import { describe, expect, test } from "vitest";
import type { AssistantMessage, Message, ToolMessage, UserMessage } from "../../../../agent-core/messages/message.ts";
import { finishFold, startFold, step } from "../../../../agent-core/providers/wire/anthropic-messages-fold.ts";
import { anthropicMessagesBody } from "../../../../agent-core/providers/wire/anthropic-messages-request.ts";
import type { ModelRequest } from "../../../../agent-core/providers/wire/wire.ts";
import { requestTo } from "../../../conformance/wire.ts";

const MODEL = "claude-sonnet-5-5";
const SIGNED = { type: "thinking", thinking: "hm", signature: "sig+/==" };
const REDACTED = { type: "redacted_thinking", data: "b3BhcXVl" };

const system: Message = { role: "system", content: "Be brief." };
const user = (content: UserMessage["content"]): UserMessage => ({ role: "user", content });
const result = (id: string, content: string): ToolMessage => ({ role: "tool", tool_call_id: id, content });
const call = (id: string, json = "{}", name = "x") =>
  ({ id, type: "function", function: { name, arguments: json } }) as const;
const answer = (more: Partial<AssistantMessage>): AssistantMessage => ({ role: "assistant", content: null, ...more });

function body(messages: readonly Message[], more: Partial<ModelRequest> = {}) {
  return anthropicMessagesBody(
    requestTo({ baseUrl: "https://api.anthropic.com" }, { model: MODEL, messages, ...more }),
  );
}

/** As JSON, without the marks of the cache. */
function unmarked(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => (key === "cache_control" ? undefined : inner));
}

const contentOf = (messages: readonly Message[]): unknown =>
  JSON.parse(unmarked(body(messages).messages)).map(({ content }: { content: unknown }) => content);

describe("messages", () => {
  test("the system prompt stands by itself, everything else in blocks", () => {
    const sent = body([system, user("hello"), answer({ content: "hi" })]);
    expect(JSON.parse(unmarked(sent))).toMatchObject({
      system: [{ type: "text", text: "Be brief." }],
      messages: [
        { role: "user", content: [{ type: "text", text: "hello" }] },
        { role: "assistant", content: [{ type: "text", text: "hi" }] },
      ],
    });
  });

  test("all results of a batch are one message, and what the user adds comes after them", () => {
    const messages = [
      user("go"),
      answer({ content: "I look.", tool_calls: [call("a", '{"n":1}'), call("b")] }),
      result("a", "one"),
      result("b", "two"),
      user("and hurry"),
    ];
    expect(body(messages).messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(contentOf(messages)).toEqual([
      [{ type: "text", text: "go" }],
      [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "a", name: "x", input: { n: 1 } },
        { type: "tool_use", id: "b", name: "x", input: {} },
      ],
      [
        { type: "tool_result", tool_use_id: "a", content: "one" },
        { type: "tool_result", tool_use_id: "b", content: "two" },
        { type: "text", text: "and hurry" },
      ],
    ]);
  });

  test("images go as their bytes, or by their address; a type that cannot be shown is named", () => {
    const image = (url: string) => ({ type: "image_url", image_url: { url } }) as const;
    const parts = [
      image("data:image/png;base64,AA=="),
      image("data:image/jpg;base64,BB=="),
      image("https://x.example/a.png"),
      image("data:image/svg+xml;base64,CC=="),
    ];
    expect(contentOf([user(parts)])).toEqual([
      [
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } },
        { type: "image", source: { type: "base64", media_type: "image/jpeg", data: "BB==" } },
        { type: "image", source: { type: "url", url: "https://x.example/a.png" } },
        { type: "text", text: "(an image of type image/svg+xml, which cannot be shown)" },
      ],
    ]);
  });

  test("nothing blank is sent: the API refuses it", () => {
    const messages = [
      user(" \n"),
      answer({ content: "" }),
      user([
        { type: "text", text: "" },
        { type: "text", text: "look" },
      ]),
      answer({ content: "\n", tool_calls: [call("a")] }),
      result("a", " "),
    ];
    expect(contentOf(messages)).toEqual([
      [
        { type: "text", text: "(empty message)" },
        { type: "text", text: "look" },
      ],
      [{ type: "tool_use", id: "a", name: "x", input: {} }],
      [{ type: "tool_result", tool_use_id: "a" }],
    ]);
  });

  test("half a call in the history is sent without its input", () => {
    const halves = ['{"command":"rm -', "[1]", "null", ""];
    for (const json of halves) {
      expect(contentOf([answer({ tool_calls: [call("a", json)] })])).toEqual([
        [{ type: "tool_use", id: "a", name: "x", input: {} }],
      ]);
    }
  });

  test("ids and names of other providers are fitted, the same way on call and result", () => {
    const foreign = ["functions.read_file:0", "call|fc_1", "a".repeat(65)];
    const messages = [
      answer({ tool_calls: foreign.map((id) => call(id, "{}", "functions.read_file")) }),
      ...foreign.map((id) => result(id, "r")),
    ];
    const [calls, results] = body(messages).messages;
    const ids = calls?.content.map((block) => (block.type === "tool_use" ? block.id : ""));
    expect(results?.content.map((block) => (block.type === "tool_result" ? block.tool_use_id : ""))).toEqual(ids);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids ?? []) expect(id).toMatch(/^[\w-]{1,64}$/);
    expect(calls?.content[0]).toMatchObject({ name: "functions_read_file" });
  });
});

describe("signed thinking", () => {
  test("goes back first and unchanged; plain reasoning and other APIs' parts stay at home", () => {
    const other = { type: "reasoning.text", text: "hm", signature: "s", format: "anthropic-claude-v1" };
    const item = { type: "reasoning", id: "rs_1", encrypted_content: "e" };
    const message = answer({
      content: "so",
      reasoning: "hm",
      reasoning_details: [other, SIGNED, item, REDACTED],
      tool_calls: [call("a")],
    });
    const [sent] = body([message, result("a", "r")]).messages;
    expect(sent?.content.map(({ type }) => type)).toEqual(["thinking", "redacted_thinking", "text", "tool_use"]);
    expect(sent?.content[0]).toBe(SIGNED);
    expect(sent?.content[1]).toBe(REDACTED);
  });

  test("a block without its signature is left out, and so is an answer of nothing but thinking", () => {
    const unsigned = [
      { type: "thinking", thinking: "hm" },
      { type: "thinking", thinking: "hm", signature: "" },
      { type: "redacted_thinking" },
    ];
    expect(contentOf([answer({ content: "so", reasoning_details: unsigned })])).toEqual([
      [{ type: "text", text: "so" }],
    ]);
    expect(body([user("a"), answer({ reasoning_details: [SIGNED] }), user("b")]).messages).toHaveLength(1);
  });

  test("returns to its places between text and calls, exactly as the API gave it", () => {
    const given = [
      SIGNED,
      { type: "text", text: "Well, " },
      { ...SIGNED, thinking: "hm?" },
      { type: "text", text: "now." },
      { type: "tool_use", id: "a", name: "x", input: { n: 1 } },
      REDACTED,
      { type: "tool_use", id: "b", name: "x", input: {} },
    ];
    const document = { type: "message", content: given, stop_reason: "tool_use" };
    const finish = finishFold(step(startFold([]), document).state).at(-1);
    const details = finish?.type === "finish" ? finish.reasoningDetails : undefined;
    const message = answer({
      content: "Well, now.",
      tool_calls: [call("a", '{"n":1}'), call("b")],
      reasoning_details: JSON.parse(JSON.stringify(details)), // through the journal
    });
    expect(contentOf([message])).toEqual([given]);
  });

  test("stands first when the history no longer fits its places", () => {
    const details = [SIGNED, { type: "anthropic.text", chars: 3 }, REDACTED, { type: "anthropic.text", chars: 4 }];
    expect(contentOf([answer({ content: "shorter", reasoning_details: details.slice(0, 3) })])).toEqual([
      [SIGNED, REDACTED, { type: "text", text: "shorter" }],
    ]);
    expect(contentOf([answer({ content: "onefour", reasoning_details: details })])).toEqual([
      [SIGNED, { type: "text", text: "one" }, REDACTED, { type: "text", text: "four" }],
    ]);
  });
});

describe("prompt cache", () => {
  const history: readonly Message[] = [
    system,
    user("one"),
    answer({ content: "two", tool_calls: [call("a", '{"n":1}')], reasoning_details: [SIGNED] }),
    result("a", "three"),
    answer({ content: "four" }),
    user("five"),
  ];
  const marked = (value: unknown): number => JSON.stringify(value).split('"cache_control"').length - 1;

  test("four marks: the system prompt and the ends of the last three messages", () => {
    const sent = body(history);
    expect(marked(sent)).toBe(4);
    expect(sent.system).toMatchObject([{ cache_control: { type: "ephemeral" } }]);
    expect(sent.messages.map(marked)).toEqual([0, 0, 1, 1, 1]);
    expect(sent.messages.at(-1)?.content.at(-1)).toEqual({
      type: "text",
      text: "five",
      cache_control: { type: "ephemeral" },
    });
  });

  test("live for an hour when the request says so", () => {
    const sent = body(history, { cacheTtl: "1h" });
    expect(JSON.stringify(sent).split('"cache_control":{"type":"ephemeral","ttl":"1h"}')).toHaveLength(5);
  });

  test("never stand on thinking", () => {
    const details = [SIGNED, { type: "anthropic.text", chars: 2 }, REDACTED];
    const sent = body([user("a"), answer({ content: "so", reasoning_details: details })]);
    expect(sent.messages[1]?.content).toEqual([
      SIGNED,
      { type: "text", text: "so", cache_control: { type: "ephemeral" } },
      REDACTED,
    ]);
  });

  test("every request is the beginning of the next, byte for byte but for the marks", () => {
    const tools = [{ name: "x", description: "X.", parameters: { type: "object", properties: {} } }];
    const longer = [...history, answer({ content: "six", tool_calls: [call("b")] }), result("b", "seven")];
    for (let length = 2; length < longer.length; length += 1) {
      const before = unmarked(body(longer.slice(0, length), { tools })).slice(0, -1);
      const after = unmarked(body(longer.slice(0, length + 1), { tools }));
      const beginning = before.slice(0, before.indexOf('],"thinking"'));
      expect(beginning).toContain('"messages":[{"role"');
      expect(after.startsWith(beginning)).toBe(true);
    }
  });

  test("the request that is given stays as it is", () => {
    const request = requestTo({ baseUrl: "https://api.anthropic.com" }, { messages: history });
    const before = JSON.stringify(request);
    anthropicMessagesBody(request);
    expect(JSON.stringify(request)).toBe(before);
  });
});

describe("tools", () => {
  const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };

  test("go with their schema", () => {
    expect(body([user("a")], { tools: [{ name: "read_file", description: "Read.", parameters }] }).tools).toEqual([
      { name: "read_file", description: "Read.", input_schema: parameters },
    ]);
    expect(body([user("a")])).not.toHaveProperty("tools");
  });

  test("of earlier calls stay defined when none may be called any more", () => {
    const messages = [
      user("a"),
      answer({ tool_calls: [call("a"), call("b"), call("c", "{}", "y")] }),
      result("a", "r"),
    ];
    expect(body(messages)).toMatchObject({
      tools: [
        { name: "x", input_schema: { type: "object" } },
        { name: "y", input_schema: { type: "object" } },
      ],
      tool_choice: { type: "none" },
    });
  });
});

describe("ceiling, thinking and sampling", () => {
  const fields = (
    model: string,
    sampling: ModelRequest["sampling"] = {},
    messages: readonly Message[] = [user("a")],
  ) => {
    const { max_tokens, thinking, output_config, temperature, top_p, stop_sequences } = body(messages, {
      model,
      sampling,
    });
    return JSON.parse(JSON.stringify({ max_tokens, thinking, output_config, temperature, top_p, stop_sequences }));
  };
  const adaptive = { type: "adaptive", display: "summarized" };

  test("the ceiling is the caller's, else the model's own", () => {
    expect(fields(MODEL, { maxTokens: 99 }).max_tokens).toBe(99);
    expect(fields(MODEL).max_tokens).toBe(128_000);
    expect(fields("claude-haiku-4-5").max_tokens).toBe(64_000);
    expect(fields("some-model").max_tokens).toBe(8_192);
  });

  test.each([
    "claude-sonnet-5-5",
    "claude-opus-4-6",
    "anthropic/claude-sonnet-4.6",
    "claude-opus-4-8-20260601",
    "us.anthropic.claude-opus-5-5-v1:0",
    "claude-haiku-5-5",
    "claude-mythos-preview",
    "claude-sonnet-latest",
  ])("%s decides itself how much to think", (model) => {
    expect(fields(model)).toMatchObject({ thinking: adaptive });
    expect(fields(model)).not.toHaveProperty("output_config");
    expect(fields(model, { reasoningEffort: "high" })).toMatchObject({
      thinking: adaptive,
      output_config: { effort: "high" },
    });
    expect(fields(model, { reasoningEffort: "minimal" }).output_config).toEqual({ effort: "low" });
  });

  test.each([
    "claude-haiku-4-5-20251001",
    "claude-opus-4-5",
    "claude-sonnet-4-20250514",
    "claude-sonnet-4@20250514",
    "anthropic/claude-sonnet-4.5",
    "claude-3-7-sonnet-20250219",
    "kimi-k2-thinking",
  ])("%s is given a budget, when an effort is asked for", (model) => {
    expect(fields(model)).not.toHaveProperty("thinking");
    expect(fields(model, { reasoningEffort: "low", maxTokens: 32_000 })).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 4_096 },
    });
    expect(fields(model, { reasoningEffort: "high" })).not.toHaveProperty("output_config");
  });

  test.each(["claude-3-5-sonnet-20241022", "claude-3-haiku-20240307", "claude-2.1"])("%s cannot think", (model) => {
    expect(fields(model, { reasoningEffort: "high" })).not.toHaveProperty("thinking");
  });

  test("a budget leaves half of the ceiling for the answer, and is not sent when it is too small", () => {
    const budget = (maxTokens: number) => fields("claude-haiku-4-5", { reasoningEffort: "high", maxTokens }).thinking;
    expect(budget(8_000)).toEqual({ type: "enabled", budget_tokens: 4_000 });
    expect(budget(2_000)).toBeUndefined();
  });

  test("a budget cannot begin among calls that were made without thinking", () => {
    const calls = answer({ tool_calls: [call("a")] });
    const signed = { ...calls, reasoning_details: [SIGNED] };
    const during = (message: AssistantMessage, more: readonly Message[] = []) =>
      fields("claude-haiku-4-5", { reasoningEffort: "low" }, [user("go"), message, result("a", "r"), ...more]).thinking;
    expect(during(calls)).toBeUndefined();
    expect(during(signed)).toMatchObject({ type: "enabled" });
    expect(during(calls, [answer({ content: "done" }), user("next")])).toMatchObject({ type: "enabled" });
  });

  test("Anthropic's models refuse temperatures; others take them while they do not think", () => {
    const sampling = { temperature: 0, topP: 0.5, frequencyPenalty: 1, presencePenalty: 1, stop: ["END", " "] };
    for (const model of [MODEL, "claude-haiku-4-5"]) {
      expect(fields(model, sampling)).not.toHaveProperty("temperature");
      expect(fields(model, sampling)).not.toHaveProperty("top_p");
    }
    expect(fields("deepseek-chat", sampling)).toEqual({
      max_tokens: 8_192,
      temperature: 0,
      top_p: 0.5,
      stop_sequences: ["END"],
    });
    expect(fields("deepseek-chat", { ...sampling, reasoningEffort: "low" })).not.toHaveProperty("temperature");
  });
});
