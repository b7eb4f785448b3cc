import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { AIAgent, type AIAgentOptions } from "../../../agent-core/index.ts";
import type { AssistantMessage, Message } from "../../../agent-core/messages/message.ts";
import { messageIn, parseEntry } from "../../../agent-core/sessions/entry.ts";
import { call, fail, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";

const folder = new URL("../../recordings/dialects/", import.meta.url);

/** A recorded answer that reads a.txt, and the parts of it that the next request must carry. */
const recordingSchema = z.strictObject({
  /** Public page of the format. */
  source: z.url(),
  /** Public page that was read for this recording, and that shows or describes these fields or tokens. */
  confirmed: z.url().exactOptional(),
  mode: z.enum(["chat_completions", "codex_responses", "anthropic_messages"]),
  model: z.string(),
  dialect: z.string().exactOptional(),
  answer: z.strictObject({ reasoning: z.string().exactOptional(), text: z.string().exactOptional() }),
  /** Part of the assistant's message in the next request; `items` in the Responses API. */
  returns: z.record(z.string(), z.unknown()),
  /** Fields that this message must not have. */
  absent: z.array(z.string()).exactOptional(),
  stream: z.array(z.string()),
});
type Recording = z.infer<typeof recordingSchema>;

const recordings = readdirSync(folder).map((file) => {
  const recording = recordingSchema.parse(JSON.parse(readFileSync(new URL(file, folder), "utf8")));
  return { name: file.replace(".json", ""), recording };
});

let model: ModelServer;
let cwd: string;

beforeEach(async () => {
  model = await startModelServer();
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "hermes-dialects-")));
  writeFileSync(join(cwd, "a.txt"), "the text of a.txt\n");
});
afterEach(async () => {
  await model.stop();
  rmSync(cwd, { recursive: true });
});

function agentFor(recording: Recording, options: Partial<AIAgentOptions> = {}): AIAgent {
  return new AIAgent({
    apiMode: recording.mode,
    baseUrl: model.baseUrl,
    model: recording.model,
    apiKey: "sk-test-123456",
    cwd,
    home: join(cwd, ".home"),
    surroundings: false,
    environment: recording.dialect === undefined ? {} : { HERMES_DIALECT: recording.dialect },
    ...options,
  });
}

/** The recorded bytes as one response. */
function answerOf({ stream }: Recording) {
  const body = stream.map((data) => `data: ${data}\n\n`).join("");
  return { status: 200, body, headers: { "content-type": "text/event-stream" } };
}

/** Messages as another process reads them from the journal. */
function throughJournal(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) => messageIn(parseEntry(JSON.stringify({ type: "message", message, at: 0 }))));
}

/** Messages or items of a request, without the marks of a cache. */
function sent(index: number): readonly Record<string, unknown>[] {
  const { body } = model.requests.at(index) ?? {};
  const list = JSON.stringify(body?.messages ?? body?.["input"], (key, value: unknown) =>
    key === "cache_control" ? undefined : value,
  );
  return JSON.parse(list);
}

const isAssistant = (message: Message): message is AssistantMessage => message.role === "assistant";

test("at least twenty dialects are recorded, each with its public source, and confirmed by a page that was read", () => {
  expect(recordings.length).toBeGreaterThanOrEqual(20);
  expect(recordings.filter(({ recording }) => recording.confirmed !== undefined).length).toBeGreaterThanOrEqual(20);
});

test.each(recordings)(
  "$name: the tool runs, and the next request carries what the server wants back",
  async ({ recording }) => {
    model.script(answerOf(recording), say("It says so."), say("Bye."), say("Hello."));
    const begun = await agentFor(recording).runConversation({ userMessage: "what does a.txt say?" });
    expect(begun.finalResponse).toBe("It says so.");

    const [answered] = begun.messages.filter(isAssistant);
    expect(answered?.reasoning).toBe(recording.answer.reasoning);
    expect(answered?.content ?? undefined).toBe(recording.answer.text);
    expect(answered?.tool_calls?.map((call) => JSON.parse(call.function.arguments))).toEqual([{ path: "a.txt" }]);
    const [result] = begun.messages.filter(({ role }) => role === "tool");
    expect(result?.content).toContain("the text of a.txt");

    const second = sent(1);
    const returned = second.find(({ role }) => role === "assistant") ?? { items: second.slice(1) };
    expect(returned).toMatchObject(recording.returns);
    for (const field of recording.absent ?? []) expect(returned).not.toHaveProperty(field);

    const conversationHistory = throughJournal(begun.messages);
    await agentFor(recording).runConversation({ userMessage: "thanks", conversationHistory });
    expect(sent(2).slice(0, second.length), "a resumed session sends the same").toEqual(second);

    const elsewhere = { apiMode: "chat_completions", model: "other-model", environment: {} } as const;
    const baseUrl = model.baseUrl.replace("127.0.0.1", "localhost");
    await agentFor(recording, { ...elsewhere, baseUrl }).runConversation({ userMessage: "hello", conversationHistory });
    const [moved] = sent(3).filter(({ role }) => role === "assistant");
    const fields = new Set(Object.keys(moved ?? {}));
    expect(fields, "another server gets nothing of it").toEqual(new Set(["role", "content", "tool_calls"]));
    expect(moved?.["content"] ?? undefined).toBe(recording.answer.text);
    expect(JSON.stringify(moved)).not.toContain("extra_content");
  },
);

test("with text_calls off, a call in the text is shown as the model wrote it", async () => {
  const recording = recordings.find(({ name }) => name === "llama-json-in-content")?.recording ?? plain;
  model.script(answerOf(recording));
  const { finalResponse } = await agentFor(recording, { environment: { HERMES_TEXT_CALLS: "off" } }).runConversation({
    userMessage: "hello",
  });
  expect(finalResponse).toContain("read_file");
  expect(model.requests).toHaveLength(1);
});

test("Cohere gets no stream options, which it refuses", async () => {
  model.respondWith(() => say("ok"));
  await agentFor(plain, { environment: { HERMES_DIALECT: "cohere" } }).runConversation({ userMessage: "hello" });
  await agentFor(plain).runConversation({ userMessage: "hello" });
  expect(model.requests.map(({ body }) => body?.["stream_options"])).toEqual([undefined, { include_usage: true }]);
});

const plain: Recording = {
  source: "",
  mode: "chat_completions",
  model: "test-model",
  answer: {},
  returns: {},
  stream: [],
};
const readFile = call("read_file", { path: "a.txt" });

test("repaired arguments are stored and sent as they ran", async () => {
  const raw = '{"path": "a.txt",}';
  model.script({ parts: [{ type: "call", name: "read_file", input: {}, raw }] }, say("Done."));
  const { messages } = await agentFor(plain).runConversation({ userMessage: "read it" });
  const [answered] = messages.filter(isAssistant);
  expect(answered?.tool_calls?.[0]?.function.arguments).toBe('{"path":"a.txt"}');
  expect(sent(1).find(({ role }) => role === "assistant")).toMatchObject({
    tool_calls: [{ function: { arguments: '{"path":"a.txt"}' } }],
  });
});

test("a server that asks for missing reasoning gets some, and is asked no second time in vain", async () => {
  const refusal = fail(400, "The `reasoning_content` in the thinking mode must be passed back to the API.");
  model.script({ parts: [readFile] }, say("Here."));
  const { messages } = await agentFor(plain).runConversation({ userMessage: "read it" });
  model.script(refusal, { parts: [readFile] }, say("There."));
  const baseUrl = model.baseUrl.replace("127.0.0.1", "localhost");
  const moved = agentFor(plain, { baseUrl });
  const result = await moved.runConversation({ userMessage: "again", conversationHistory: messages });
  expect(result.finalResponse).toBe("There.");
  expect(model.requests).toHaveLength(5);
  for (const index of [3, 4]) {
    const answers = sent(index).filter((message) => message["tool_calls"] !== undefined);
    expect(answers.every((message) => message["reasoning_content"] === " ")).toBe(true);
  }
});

test("a server that refuses its own field gets it twice, and then no more", async () => {
  const refusal = fail(400, "messages.2.assistant.reasoning_content: Extra inputs are not permitted");
  const think = { parts: [{ type: "reasoning", text: "Hm." } as const, readFile] };
  model.script(think, refusal, think, refusal, think, say("Done."));
  expect(await agentFor(plain).chat("read it")).toBe("Done.");
  const isSent = model.requests.map((_, index) => sent(index).some((message) => "reasoning_content" in message));
  expect(isSent).toEqual([false, true, false, true, false, false]);
});

test("a call as text that cannot be read gets one further request, and is then shown with a notice", async () => {
  const text = '<tool_call>{"name": "read_file", "arguments": {"path": "a.t';
  const notices: string[] = [];
  model.script(say(text), say("Done."), say(text), say(text));
  expect(await agentFor(plain).chat("read it")).toBe("Done.");
  const agent = agentFor(plain, { callbacks: { status: ({ message }) => void notices.push(message) } });
  expect(await agent.chat("read it")).toBe(text);
  expect(notices).toEqual(["The model wrote a tool call as text that could not be read, so the call did not run."]);
});

test("a thought whose beginning was in the prompt is kept as reasoning", async () => {
  const shown: string[] = [];
  const thoughts: string[] = [];
  model.script(say("Hm.\n</think>\n\nHello."), say("Ho.\n</think>\n\nBye."), say("Plain."), say("Simple."));
  const agent = agentFor(plain, {
    callbacks: { streamDelta: ({ text }) => void shown.push(text), reasoning: ({ text }) => void thoughts.push(text) },
  });
  expect(await agent.chat("hi")).toBe("Hello.");
  const { messages } = await agent.runConversation({ userMessage: "and now?" });
  expect(messages.filter(isAssistant)).toMatchObject([
    { content: "Hello.", reasoning: "Hm.\n" },
    { content: "Bye.", reasoning: "Ho.\n" },
  ]);
  expect(shown.join("")).toBe("Hm.\nHello.Bye.");
  expect(thoughts.join("")).toBe("Ho.\n");
  expect(await agent.chat("more")).toBe("Plain.");
  thoughts.length = 0;
  expect(await agent.chat("more")).toBe("Simple.");
  expect(thoughts).toEqual([]);
});

test("a model that is chosen in the session has the dialect and the text calls of its own provider", async () => {
  const settings = { provider: "custom", baseUrl: model.baseUrl, model: "other", apiKey: "sk-test-123456" };
  const agent = new AIAgent({ ...settings, cwd, home: join(cwd, ".home"), surroundings: false, environment: {} });
  agent.setup.models.choose(agent.setup.resolve({ ...settings, dialect: "deepseek", textCalls: "off" }));
  expect(agent.setup.models.current.endpoint).toMatchObject({ dialect: "deepseek", textCalls: "off" });
  await agent.close();
});

const args = { path: "a.txt" };
const json = JSON.stringify({ name: "read_file", arguments: args });
test.each([
  ["Hermes", `<tool_call>\n${json}\n</tool_call>`],
  ["Qwen2.5-Coder", `<tools>\n${json}\n</tools>`],
  [
    "Qwen3-Coder",
    "<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
  ],
  ["Llama 4", '[read_file(path="a.txt")]'],
  ["Mistral", `[TOOL_CALLS]read_file[ARGS]${JSON.stringify(args)}`],
  ["GLM", "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>"],
  [
    "Kimi",
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>${JSON.stringify(args)}<|tool_call_end|><|tool_calls_section_end|>`,
  ],
  [
    "DeepSeek",
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>${JSON.stringify(args)}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  ],
  [
    "MiniMax",
    '<minimax:tool_call>\n<invoke name="read_file">\n<parameter name="path">a.txt</parameter>\n</invoke>\n</minimax:tool_call>',
  ],
  ["LFM2", "<|tool_call_start|>[read_file(path='a.txt')]<|tool_call_end|>"],
  ["Gemma 4", '<|tool_call>call:read_file{path:<|"|>a.txt<|"|>}<tool_call|>'],
  ["Cline", "<read_file>\n<path>a.txt</path>\n</read_file>"],
  [
    "Command R",
    `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "read_file", "parameters": ${JSON.stringify(args)}}]<|END_ACTION|>`,
  ],
  ["a call in reasoning", { parts: [{ type: "reasoning", text: `I look.\n<tool_call>${json}</tool_call>` } as const] }],
])("a model that writes calls as %s gets through a task of 30 calls", async (_family, written) => {
  const answer = typeof written === "string" ? say(`Next.\n${written}`) : written;
  let calls = 0;
  model.respondWith(() => {
    calls += 1;
    if (calls > 30) return say("All read.");
    writeFileSync(join(cwd, "a.txt"), `line ${calls}\n`); // a new result each time is progress
    return answer;
  });
  expect(await agentFor(plain).chat("read it thirty times")).toBe("All read.");
  expect(model.requests).toHaveLength(31);
  expect(JSON.stringify(sent(30))).toContain("line 30");
});
