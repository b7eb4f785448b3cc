import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { AIAgent } from "../../../agent-core/agent/ai-agent.ts";
import type { RunOptions } from "../../../agent-core/agent/turn-runner.ts";
import type { Message } from "../../../agent-core/messages/message.ts";
import type { Answer } from "../../support/model-server/answer.ts";
import {
  call,
  callTools,
  fail,
  type ModelServer,
  say,
  startModelServer,
} from "../../support/model-server/model-server.ts";

let model: ModelServer;
let home: string;

beforeEach(async () => {
  model = await startModelServer();
  home = mkdtempSync(join(tmpdir(), "hermes-flush-"));
});

afterEach(() => model.stop());

const { signal } = new AbortController();
const statuses: string[] = [];

function agentWith(options: ConstructorParameters<typeof AIAgent>[0] = {}): AIAgent {
  return new AIAgent({
    home,
    cwd: home,
    environment: {},
    baseUrl: model.baseUrl,
    model: "small",
    apiKey: "sk-12345678",
    provider: "custom",
    title: "named",
    approvalMode: () => "auto",
    callbacks: { status: ({ message }) => statuses.push(message) },
    ...options,
  });
}

/** So many exchanges, long enough for a compression to have something to take away. */
function history(exchanges: number): NonNullable<RunOptions["conversationHistory"]> {
  return Array.from({ length: exchanges }, (_, index): readonly Message[] => [
    { role: "user", content: `question ${index} ${"words ".repeat(200)}` },
    { role: "assistant", content: `answer ${index} ${"words ".repeat(200)}` },
  ]).flat();
}

const REVIEW = "You keep the long-term memory";

/** Answers each request by what it is for: it may come in any order. */
function answering(flush: Answer): void {
  model.respondWith(({ messages }) => {
    const first = String(messages[0]?.["content"]);
    if (first.startsWith(REVIEW)) return flush;
    if (first.startsWith("You sum up a part")) return say("## Facts\n- there were questions");
    return say("hello");
  });
}

const memories = (name: string): string => readFileSync(join(home, "memories", name), "utf8");
const flushes = () => model.requests.filter(({ body }) => String(body.messages[0]?.["content"]).startsWith(REVIEW));

it("the flush lets the model save notes before a summary replaces messages", async () => {
  answering(callTools(call("memory", { action: "add", target: "user", content: "likes tabs" })));
  const agent = agentWith();
  await agent.runConversation({ userMessage: "hi", conversationHistory: history(20) });
  const compressed = await agent.compress(undefined, signal);
  expect(compressed?.messages).toBeGreaterThan(0);
  expect(memories("USER.md")).toBe("likes tabs\n");
  expect(statuses).toContain("Memory review · Remember: likes tabs");
  // The question is no part of the conversation.
  expect(JSON.stringify(agent.messages)).not.toContain(REVIEW);
});

it("the flush reads what user and agent said, without the output of tools, and nothing twice", async () => {
  answering(say("nothing"));
  const agent = agentWith();
  const output: Message[] = [
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "c", type: "function", function: { name: "x", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c", content: "hostile output" },
  ];
  await agent.runConversation({ userMessage: "hi", conversationHistory: [...history(20), ...output] });
  await agent.compress(undefined, signal);
  const shown = JSON.stringify(flushes().map(({ body }) => body.messages));
  expect(shown).toContain("question 19");
  expect(shown).not.toContain("hostile output");
  expect(existsSync(join(home, "memories"))).toBe(false);
});

it("the flush runs only tools of the memory and of skills", async () => {
  answering(callTools(call("write_file", { path: join(home, "made.txt"), content: "x" })));
  const agent = agentWith();
  await agent.runConversation({ userMessage: "hi", conversationHistory: history(20) });
  await agent.compress(undefined, signal);
  expect(existsSync(join(home, "made.txt"))).toBe(false);
});

it("the flush asks once about the same messages, and never about only a few", async () => {
  answering(say("nothing"));
  const short = agentWith();
  await short.runConversation({ userMessage: "hi", conversationHistory: history(3) });
  await short.compress(undefined, signal);
  expect(flushes()).toHaveLength(0);
  const long = agentWith();
  await long.runConversation({ userMessage: "hi", conversationHistory: history(20) });
  await long.compress(undefined, signal);
  await long.compress("the questions", signal);
  expect(flushes()).toHaveLength(1);
});

it("the flush does not happen without a memory", async () => {
  answering(say("nothing"));
  const agent = agentWith({ memory: false });
  expect(agent.setup.catalogue.callable.map(({ name }) => name)).not.toContain("memory");
  await agent.runConversation({ userMessage: "hi", conversationHistory: history(20) });
  await agent.compress(undefined, signal);
  expect(flushes()).toHaveLength(0);
});

it("the flush does not affect the compression when it fails", async () => {
  answering(fail(400, "no"));
  const agent = agentWith();
  await agent.runConversation({ userMessage: "hi", conversationHistory: history(20) });
  expect((await agent.compress(undefined, signal))?.messages).toBeGreaterThan(0);
});

it("the flush puts its notes into the prompt of the next session", async () => {
  answering(callTools(call("memory", { action: "add", content: "tests run with npm test" })));
  const agent = agentWith();
  await agent.runConversation({ userMessage: "hi", conversationHistory: history(20) });
  await agent.compress(undefined, signal);
  expect(String(model.requests[0]?.body.messages[0]?.["content"])).not.toContain("npm test");
  await agentWith().chat("hi");
  expect(String(model.requests.at(-1)?.body.messages[0]?.["content"])).toContain("tests run with npm test");
});
