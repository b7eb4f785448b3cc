import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { AIAgent } from "../../../agent-core/agent/ai-agent.ts";
import type { StatusEvent } from "../../../agent-core/agent/callbacks.ts";
import { ManualClock } from "../../support/manual-clock.ts";
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
let clock: ManualClock;
let statuses: StatusEvent[];

beforeEach(async () => {
  model = await startModelServer();
  home = mkdtempSync(join(tmpdir(), "hermes-review-"));
  clock = new ManualClock();
  statuses = [];
});
afterEach(() => model.stop());

type Options = ConstructorParameters<typeof AIAgent>[0];

function agentWith(options: Options = {}): AIAgent {
  return new AIAgent({
    home,
    cwd: home,
    environment: {},
    baseUrl: model.baseUrl,
    model: "small",
    apiKey: "sk-12345678",
    provider: "custom",
    title: "named",
    clock,
    memoryReviewTurns: 2,
    approvalMode: () => "auto",
    callbacks: { status: (event) => statuses.push(event) },
    ...options,
  });
}

const isReview = (messages: readonly Record<string, unknown>[]): boolean =>
  String(messages[0]?.["content"]).startsWith("You keep the long-term memory");
const reviews = () => model.requests.filter(({ body }) => isReview(body.messages));

function answering(review: Answer): void {
  model.respondWith(({ messages }) => (isReview(messages) ? review : say("hello")));
}

const remember = (content: string): Answer => callTools(call("memory", { action: "add", target: "user", content }));
const user = (): string => readFileSync(join(home, "memories", "USER.md"), "utf8");

it("the review looks through the last turns after every second one, with the tools of memory and skills only, and saves what it finds", async () => {
  answering(remember("likes tabs"));
  const agent = agentWith();
  await agent.chat("first words");
  await clock.advance(10_000);
  expect(reviews()).toHaveLength(0);
  await agent.chat("I like tabs, not spaces");
  await clock.advance(10_000);
  await expect.poll(() => statuses.length).toBe(1);
  const [request] = reviews();
  const tools = ["memory", "skill_manage", "skill_view", "skills_list"];
  expect(request?.body["tools"]).toMatchObject(tools.map((name) => ({ function: { name } })));
  const shown = JSON.stringify(request?.body.messages);
  expect(shown).toContain("User: first words\\n\\nAgent: hello\\n\\nUser: I like tabs, not spaces");
  expect(user()).toBe("likes tabs\n");
  expect(statuses).toEqual([
    { severity: "info", message: "Memory review · Remember: likes tabs", memoryCall: expect.any(String) },
  ]);
  expect(JSON.stringify(agent.messages)).not.toContain("long-term memory");
  await agent.close();
});

it("the review writes entries that name it as their writer and can be undone together", async () => {
  answering(callTools(...["one", "two"].map((content) => call("memory", { action: "add", content }))));
  const agent = agentWith({ memoryReviewTurns: 1 });
  await agent.chat("hi");
  await clock.advance(10_000);
  await expect.poll(() => statuses.length).toBe(1);
  expect(await agent.setup.memory?.entries("memory")).toMatchObject([
    { text: "one", write: { by: "review", sessionId: agent.sessionId, callId: statuses[0]?.memoryCall } },
    { text: "two", write: { by: "review" } },
  ]);
  await agent.close();
});

it("the review reads skills before it goes on, and has four calls for all of it", async () => {
  answering(callTools(call("skills_list", {})));
  const agent = agentWith({ memoryReviewTurns: 1 });
  await agent.chat("hi");
  await clock.advance(10_000);
  await expect.poll(() => reviews().length).toBe(4);
  expect(
    reviews()
      .at(-1)
      ?.body.messages.map(({ role }) => role),
  ).toEqual([...["system", "user", "assistant", "tool", "assistant", "tool", "assistant", "tool"]]);
  await agent.close();
  expect(statuses).toEqual([]);
});

it("the review counts over a resume, and leaves out reviews that were due before", async () => {
  answering(say("nothing"));
  const first = agentWith({ memoryReviewTurns: 3 });
  await first.chat("one");
  await first.chat("two");
  await first.close();
  const history = [...first.messages];
  const agent = agentWith({ memoryReviewTurns: 3 });
  await agent.runConversation({ userMessage: "three", conversationHistory: history });
  await clock.advance(10_000);
  await expect.poll(() => reviews().length).toBe(1);
  expect(statuses).toEqual([]);
  await agent.close();
});

it("the review is cancelled by a new turn, and due again after it", async () => {
  model.respondWith(({ messages }) => (isReview(messages) ? { silent: true } : say("hello")));
  const agent = agentWith({ memoryReviewTurns: 1 });
  await agent.chat("one");
  await clock.advance(10_000);
  await expect.poll(() => reviews().length).toBe(1);
  answering(remember("likes tabs"));
  await agent.chat("two");
  await reviews()[0]?.closed;
  await clock.advance(10_000);
  await expect.poll(() => statuses.length).toBe(1);
  expect(reviews()).toHaveLength(2);
  expect(JSON.stringify(reviews().at(-1)?.body.messages)).toContain("User: one");
  await agent.close();
});

it("the review ends with its session, without a word", async () => {
  model.respondWith(({ messages }) => (isReview(messages) ? { silent: true } : say("hello")));
  const agent = agentWith({ memoryReviewTurns: 1 });
  await agent.chat("one");
  await clock.advance(10_000);
  await expect.poll(() => reviews().length).toBe(1);
  await agent.close();
  await reviews()[0]?.closed;
  expect(statuses).toEqual([]);
});

it.each<[string, Options]>([
  ["where the memory asks", { approvalMode: () => "code" }],
  ["in plan mode", { approvalMode: () => "plan" }],
  ["in an untrusted workspace", { trusted: () => false }],
  ["with an interval of 0", { memoryReviewTurns: 0 }],
  ["without a memory", { memory: false }],
  ["without the memory tool", { disabledToolsets: ["memory"] }],
])("the review does not start %s", async (_, options) => {
  answering(remember("likes tabs"));
  const agent = agentWith({ memoryReviewTurns: 1, ...options });
  await agent.chat("one");
  await clock.advance(10_000);
  await agent.close();
  expect(reviews()).toEqual([]);
  expect(existsSync(join(home, "memories"))).toBe(false);
});

it("the review runs only the tools that it has, and takes a fault for nothing to save", async () => {
  answering(callTools(call("terminal", { command: "touch made" }), call("memory", { action: "add", content: "" })));
  const agent = agentWith({ memoryReviewTurns: 1 });
  await agent.chat("one");
  await clock.advance(10_000);
  await expect.poll(() => reviews().length).toBeGreaterThan(0);
  answering(fail(400, "no"));
  await agent.chat("two");
  await clock.advance(10_000);
  await agent.close();
  expect(existsSync(join(home, "made"))).toBe(false);
  expect(statuses).toEqual([]);
});
