import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { AIAgent, type AIAgentOptions } from "../../../agent-core/index.ts";
import type { AssistantMessage, Message } from "../../../agent-core/messages/message.ts";
import { messageIn, parseEntry } from "../../../agent-core/sessions/entry.ts";
import { type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";

const folder = new URL("../../recordings/dialects/", import.meta.url);

/** A recorded answer that reads a.txt, and the parts of it that the next request must carry. */
const recordingSchema = z.strictObject({
  /** Public page of the format. */
  source: z.url(),
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

test("at least twenty dialects are recorded, each with its public source", () => {
  expect(recordings.length).toBeGreaterThanOrEqual(20);
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
    expect(Object.keys(moved ?? {}).sort(), "another server gets nothing of it").toEqual([
      "content",
      "role",
      "tool_calls",
    ]);
    expect(moved?.["content"] ?? undefined).toBe(recording.answer.text);
    expect(JSON.stringify(moved)).not.toContain("extra_content");
  },
);
