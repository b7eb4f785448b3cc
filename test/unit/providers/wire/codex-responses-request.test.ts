import { describe, expect, test } from "vitest";
import type { AssistantMessage, Message } from "../../../../agent-core/messages/message.ts";
import { repairMessages } from "../../../../agent-core/messages/repair.ts";
import { codexResponsesBody } from "../../../../agent-core/providers/wire/codex-responses-request.ts";
import type { ModelRequest } from "../../../../agent-core/providers/wire/wire.ts";
import { requestTo } from "../../../conformance/wire.ts";

const baseUrl = "https://api.openai.com/v1";

function body(messages: readonly Message[], more: Partial<ModelRequest> = {}) {
  return codexResponsesBody(requestTo({ baseUrl }, { model: "gpt-5", messages, ...more }));
}

const inputOf = (messages: readonly Message[], model = "gpt-5"): unknown => body(messages, { model }).input;

const call = (id: string, json = "{}") => ({ id, type: "function", function: { name: "x", arguments: json } }) as const;
const reasoning = (id: string) => ({
  type: "reasoning",
  id,
  summary: [{ type: "summary_text", text: "Hm." }],
  encrypted_content: `gAAAA-${id}`,
});
const output = (id: string, text: string) => ({
  type: "message",
  role: "assistant",
  id,
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});

describe("input", () => {
  test("the system prompt are the instructions; texts, images, calls and results are items", () => {
    const url = "data:image/png;base64,AA==";
    const messages: readonly Message[] = [
      { role: "system", content: "s" },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url } },
        ],
      },
      { role: "assistant", content: "I do.", tool_calls: [call("c1", '{"a":1}'), call("c2")] },
      { role: "tool", tool_call_id: "c1", content: "r1" },
      { role: "tool", tool_call_id: "c2", content: "" },
      { role: "assistant", content: "done" },
      { role: "user", content: "thanks" },
    ];
    expect(body(messages)).toMatchObject({
      instructions: "s",
      input: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "look" },
            { type: "input_image", image_url: url, detail: "auto" },
          ],
        },
        output("msg_2_0", "I do."),
        { type: "function_call", call_id: "c1", name: "x", arguments: '{"a":1}' },
        { type: "function_call", call_id: "c2", name: "x", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "r1" },
        { type: "function_call_output", call_id: "c2", output: "" },
        output("msg_5_0", "done"),
        { type: "message", role: "user", content: [{ type: "input_text", text: "thanks" }] },
      ],
    });
  });

  test("without a system prompt there are no instructions", () => {
    expect(body([{ role: "user", content: "hi" }])).not.toHaveProperty("instructions");
  });

  test("half a call in the history is sent as an empty one", () => {
    const sent = inputOf([{ role: "assistant", content: null, tool_calls: [call("c1", '{"command":"rm -')] }]);
    expect(sent).toEqual([{ type: "function_call", call_id: "c1", name: "x", arguments: "{}" }]);
  });

  test("a name that the model made up is made one that the API takes", () => {
    const named = (name: string) => ({ id: "c", type: "function", function: { name, arguments: "{}" } }) as const;
    const names = inputOf([
      { role: "assistant", content: null, tool_calls: [named("read the file!"), named(""), named("x".repeat(65))] },
    ]) as readonly { readonly name: string }[];
    expect(names.map(({ name }) => name)).toEqual(["read_the_file_", "_", "x".repeat(64)]);
  });

  test("ids that the API refuses are replaced, the same for a call and its result", () => {
    const ids = ["x".repeat(65), "functions.read_file:0", "", "toolu_01AbC-_9", "y".repeat(64)];
    const sent = inputOf([
      { role: "assistant", content: null, tool_calls: ids.map((id) => call(id)) },
      ...ids.map((id) => ({ role: "tool", tool_call_id: id, content: "r" }) as const),
    ]) as readonly { readonly call_id: string }[];
    const sentIds = sent.map((item) => item.call_id);
    expect(sentIds.slice(0, 5)).toEqual(sentIds.slice(5));
    expect(sentIds.slice(3, 5)).toEqual(ids.slice(3));
    expect(new Set(sentIds).size).toBe(5);
    for (const id of sentIds) expect(id).toMatch(/^[\w-]{1,64}$/);
  });
});

describe("reasoning", () => {
  /** As the fold keeps the response of a codex model. */
  const kept: AssistantMessage = {
    role: "assistant",
    content: "Let me look.\n\nReading it.",
    tool_calls: [call("call_1"), call("call_2")],
    reasoning: "Hm.",
    reasoning_details: [
      reasoning("rs_1"),
      { type: "message", id: "msg_1", phase: "commentary", chars: 12 },
      reasoning("rs_2"),
      { type: "message", id: "msg_2", chars: 11 },
      { type: "function_call", id: "fc_1", call_id: "call_1" },
      { type: "function_call", id: "fc_2", call_id: "call_2" },
    ],
  };
  const withoutReasoning = [
    output("msg_0_0", "Let me look.\n\nReading it."),
    { type: "function_call", call_id: "call_1", name: "x", arguments: "{}" },
    { type: "function_call", call_id: "call_2", name: "x", arguments: "{}" },
  ];

  test("goes back as it came, each before the item it led to", () => {
    expect(inputOf([kept])).toEqual([
      reasoning("rs_1"),
      { ...output("msg_1", "Let me look."), phase: "commentary" },
      reasoning("rs_2"),
      output("msg_2", "Reading it."),
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "x", arguments: "{}" },
      { type: "function_call", id: "fc_2", call_id: "call_2", name: "x", arguments: "{}" },
    ]);
  });

  test("keeps fields that nobody here knows", () => {
    const item = { ...reasoning("rs_1"), status: "completed", x_new: { a: [1] } };
    const details = [item, { type: "message", id: "msg_1", chars: 1 }];
    expect(inputOf([{ role: "assistant", content: "a", reasoning_details: details }])).toMatchObject([item, {}]);
  });

  test("is not sent to models that do not reason, and neither are the ids that ask for it", () => {
    expect(inputOf([kept], "gpt-4.1")).toEqual(withoutReasoning);
  });

  test("that led to nothing stays at home", () => {
    const details = [{ type: "message", id: "msg_1", chars: 4 }, reasoning("rs_cut")];
    expect(inputOf([{ role: "assistant", content: "text", reasoning_details: details }])).toEqual(
      [output("msg_0_0", "text")].map((item) => ({ ...item, id: "msg_1" })),
    );
    expect(inputOf([{ role: "assistant", content: null, reasoning_details: [reasoning("rs_cut")] }])).toEqual([]);
    const empty = [reasoning("rs_1"), { type: "message", id: "msg_1", chars: 0 }, reasoning("rs_2")];
    const called = [...empty, { type: "function_call", id: "fc_1", call_id: "c1" }];
    expect(
      inputOf([{ role: "assistant", content: null, tool_calls: [call("c1")], reasoning_details: called }]),
    ).toMatchObject([reasoning("rs_2"), { type: "function_call", id: "fc_1" }]);
  });

  const changed: readonly (readonly [string, Partial<AssistantMessage>])[] = [
    ["a text of another length", { content: "Let me look.\n\nReading it now." }],
    ["a shorter text", { content: "Let me look." }],
    ["no text", { content: null }],
    ["another call", { tool_calls: [call("call_1"), call("call_3")] }],
    ["a call less", { tool_calls: [call("call_1")] }],
    ["calls in another order", { tool_calls: [call("call_2"), call("call_1")] }],
  ];
  test.each(changed)("stays at home when the message has changed: %s", (_, change) => {
    const sent = inputOf([{ ...kept, ...change }]) as readonly { readonly type: string; readonly id?: string }[];
    expect(sent.filter(({ type }) => type === "reasoning")).toEqual([]);
    expect(sent.filter(({ type, id }) => type === "function_call" && id !== undefined)).toEqual([]);
  });

  test("that cannot be read by a server that stored nothing stays at home", () => {
    const unsealed = { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "Hm" }] };
    const details = [unsealed, { type: "message", id: "msg_1", chars: 1 }];
    expect(inputOf([{ role: "assistant", content: "a", reasoning_details: details }])).toEqual([
      output("msg_0_0", "a"),
    ]);
  });

  test("of other APIs stays at home", () => {
    const foreign = [
      { type: "reasoning.text", text: "hm", signature: "s", index: 0 },
      { type: "reasoning.encrypted", data: "gAAAA", id: "rs_1", index: 1 },
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "redacted_thinking", data: "x" },
      "text",
      null,
    ];
    expect(inputOf([{ role: "assistant", content: "a", reasoning_details: foreign }])).toEqual([
      output("msg_0_0", "a"),
    ]);
    expect(inputOf([{ ...kept, reasoning_details: [...foreign, ...(kept.reasoning_details ?? [])] }])).toEqual(
      inputOf([kept]),
    );
  });

  test("of two answers that repair put together keeps its places", () => {
    const first = {
      role: "assistant",
      content: "One.",
      reasoning_details: [reasoning("rs_1"), { type: "message", id: "msg_1", chars: 4 }],
    } as const;
    const second = {
      role: "assistant",
      content: "Two.",
      reasoning_details: [reasoning("rs_2"), { type: "message", id: "msg_2", chars: 4 }],
    } as const;
    const sent = inputOf(repairMessages([{ role: "user", content: "u" }, first, second])) as unknown[];
    expect(sent.slice(1)).toEqual([
      reasoning("rs_1"),
      output("msg_1", "One."),
      reasoning("rs_2"),
      output("msg_2", "Two."),
    ]);
  });

  test("ids of items that the API would refuse are left out", () => {
    const id = `${"Zm9v+/".repeat(40)}=`;
    const details = [
      reasoning("rs_1"),
      { type: "message", id, chars: 1 },
      { type: "function_call", id, call_id: "c1" },
    ];
    expect(
      inputOf([{ role: "assistant", content: "a", tool_calls: [call("c1")], reasoning_details: details }]),
    ).toEqual([
      reasoning("rs_1"),
      output("msg_0_1", "a"),
      { type: "function_call", call_id: "c1", name: "x", arguments: "{}" },
    ]);
  });
});

describe("options", () => {
  const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
  const tools = [{ name: "read_file", description: "Read.", parameters }];
  const sampling = { temperature: 0, topP: 0.5, stop: ["END"], maxTokens: 99, presencePenalty: 1, frequencyPenalty: 1 };
  const messages: readonly Message[] = [{ role: "user", content: "hi" }];

  test("of a reasoning model: sealed reasoning, a summary, the effort, no sampling", () => {
    const {
      input: _,
      prompt_cache_key: __,
      ...options
    } = body(messages, {
      tools,
      sampling: { ...sampling, reasoningEffort: "high" },
    });
    expect(options).toEqual({
      model: "gpt-5",
      stream: true,
      store: false,
      tools: [{ type: "function", name: "read_file", description: "Read.", parameters, strict: false }],
      max_output_tokens: 99,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "high", summary: "auto" },
    });
  });

  test("of the others: sampling that the API has, nothing about reasoning", () => {
    const {
      input: _,
      prompt_cache_key: __,
      ...options
    } = body(messages, {
      model: "gpt-4.1",
      sampling: { ...sampling, reasoningEffort: "high" },
    });
    expect(options).toEqual({
      model: "gpt-4.1",
      stream: true,
      store: false,
      temperature: 0,
      top_p: 0.5,
      max_output_tokens: 99,
    });
  });

  test("a ceiling below the API's lowest is raised to it", () => {
    expect(body(messages, { sampling: { maxTokens: 1 } })).toMatchObject({ max_output_tokens: 16 });
  });

  test.each([
    ["gpt-5", "minimal"],
    ["gpt-5-mini-2025-08-07", "minimal"],
    ["gpt-5-codex", "low"],
    ["gpt-5.1", "low"],
    ["o4-mini", "low"],
  ])("minimal effort of %s is %s", (model, effort) => {
    expect(body(messages, { model, sampling: { reasoningEffort: "minimal" } })).toMatchObject({
      reasoning: { effort },
    });
  });

  test("the cache key stays the same in a session, and differs between them", () => {
    const key = (history: readonly Message[]) => body(history).prompt_cache_key;
    const session: readonly Message[] = [{ role: "system", content: "s" }, ...messages];
    expect(key([...session, { role: "assistant", content: "a" }, { role: "user", content: "u" }])).toBe(key(session));
    expect(key([{ role: "system", content: "another" }, ...messages])).not.toBe(key(session));
    expect(key(session)).toMatch(/^hermes-[0-9a-f]{24}$/);
  });
});

test("the same history gives the same bytes, and a longer one only adds to them", () => {
  const history: readonly Message[] = [
    { role: "system", content: "s" },
    { role: "user", content: "u" },
    {
      role: "assistant",
      content: null,
      tool_calls: [call("c1")],
      reasoning_details: [reasoning("rs_1"), { type: "function_call", id: "fc_1", call_id: "c1" }],
    },
    { role: "tool", tool_call_id: "c1", content: "t" },
    { role: "assistant", content: "a", reasoning_details: [reasoning("rs_2"), { type: "message", chars: 1 }] },
    { role: "user", content: [{ type: "text", text: "more" }] },
    { role: "assistant", content: null, tool_calls: [call("a foreign id")] },
    { role: "tool", tool_call_id: "a foreign id", content: "t" },
  ];
  const { input: whole, ...rest } = body(history);
  for (let length = 2; length < history.length; length += 1) {
    const { input: part, ...options } = body(history.slice(0, length));
    expect(JSON.stringify(whole).startsWith(JSON.stringify(part).slice(0, -1))).toBe(true);
    expect(JSON.stringify(options)).toBe(JSON.stringify(rest));
  }
});
