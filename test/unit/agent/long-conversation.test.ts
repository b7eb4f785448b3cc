import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AIAgent } from "../../../agent-core/agent/ai-agent.ts";
import type { CompressedEvent } from "../../../agent-core/agent/callbacks.ts";
import { defaultEngine } from "../../../agent-core/context/context-engine.ts";
import { estimateTokens } from "../../../agent-core/context/token-meter.ts";
import type { Message } from "../../../agent-core/messages/message.ts";
import { Journal } from "../../../agent-core/sessions/journal.ts";
import { readJournal } from "../../../agent-core/sessions/read-journal.ts";
import type { Answer } from "../../support/model-server/answer.ts";
import { type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";
import { sweep } from "../../support/scale.ts";

const WINDOW = 32_000;
const TINY_WINDOW = 8_000;
const TURNS = sweep(2_000, 300);
const COMPRESSIONS = sweep(25, 8);
const FACT = "The code word is heliotrope-42.";

let model: ModelServer;
let folder: string;
const journals: Journal[] = [];

beforeEach(async () => {
  model = await startModelServer();
  folder = mkdtempSync(join(tmpdir(), "hermes-long-"));
});

afterEach(async () => {
  for (const journal of journals.splice(0)) journal.close();
  await model.stop();
});

const sent = (): readonly Message[] => (model.requests.at(-1)?.body.messages ?? []) as unknown as readonly Message[];
const isSummary = (messages: readonly Message[]): boolean =>
  String(messages[0]?.content).startsWith("You sum up a part");

/** An answer with a usage that is true, as a provider counts it: a little otherwise than we estimate. */
function answered(body: object, words: string): Answer {
  const input = Math.round(JSON.stringify(body).length / 3.7);
  return { ...say(words), usage: { input, output: Math.round(words.length / 3.7) } } as Answer;
}

/** An honest summariser: it keeps the lines whose facts its instructions name, and nothing else. */
function summaryOf(messages: readonly Message[]): string {
  const shown = String(messages[1]?.content);
  const facts = new Set(shown.match(/The [a-z ]+ is [\w-]+\./g));
  return ["## Facts", ...[...facts].slice(0, 40)].join("\n");
}

function agentOn(
  path: string,
  events: CompressedEvent[],
  conversation: AgentOptions = {},
  notifyUser: (message: string) => void = () => undefined,
): AIAgent {
  const journal = new Journal({
    path,
    sessionId: "20261121_120000_0000abcd",
    cwd: folder,
    now: Date.now,
    onFailure: (message) => {
      throw new Error(message);
    },
  });
  journals.push(journal);
  return new AIAgent({
    home: folder,
    cwd: folder,
    environment: {},
    baseUrl: model.baseUrl,
    model: "small",
    apiKey: "sk-12345678",
    provider: "custom",
    enabledToolsets: ["file"],
    modelFacts: ({ model: name }) => ({ contextWindow: name === "tiny" ? TINY_WINDOW : WINDOW }),
    journal,
    sessionId: "20261121_120000_0000abcd",
    title: "named",
    ...conversation,
    callbacks: { compressed: (event) => events.push(event), status: ({ message }) => notifyUser(message) },
  });
}

type AgentOptions = Pick<NonNullable<ConstructorParameters<typeof AIAgent>[0]>, "stored" | "contextEngine">;

test(`a conversation of ${TURNS} turns stays in its window, keeps its first fact, and keeps its prefix in between`, async () => {
  const events: CompressedEvent[] = [];
  const path = join(folder, "s.jsonl");
  const agent = agentOn(path, events);
  let previous: readonly Message[] = [];
  let kept = 0;
  model.respondWith((body) => {
    const messages = body.messages as unknown as readonly Message[];
    if (isSummary(messages)) return say(summaryOf(messages));
    expect(estimateTokens(messages)).toBeLessThan(WINDOW);
    expect(JSON.stringify(messages)).toContain("heliotrope-42");
    const prefix = JSON.stringify(previous).slice(0, -1);
    if (previous.length > 0 && JSON.stringify(messages).startsWith(prefix)) kept++;
    previous = messages;
    model.forget(); // hundreds of megabytes otherwise
    return answered(body, `Answer with ${"some more words ".repeat(20)}.`);
  });
  for (let turn = 0; turn < TURNS; turn++) {
    const begun = events.length;
    const { stopReason } = await agent.runConversation({
      userMessage: turn === 0 ? FACT : `Question ${turn}: ${"what about this part ".repeat(15)}?`,
    });
    expect(stopReason).toBe("end_turn");
    if (events.length > begun) previous = [];
  }
  expect(events.length).toBeGreaterThan(TURNS / 120);
  expect(kept).toBeGreaterThanOrEqual(TURNS - 1 - 2 * events.length);
  expect(agent.transcript).toHaveLength(2 * TURNS);
}, 300_000);

test("dropped messages are in the journal only, also while the session continues", async () => {
  const events: CompressedEvent[] = [];
  const path = join(folder, "s.jsonl");
  const agent = agentOn(path, events);
  model.respondWith((body) => answered(body, "words ".repeat(400)));
  for (let turn = 0; events.length === 0; turn++) await agent.chat(`Question ${turn}.`);
  const [[first] = [0]] = agent.session.conversation.compression?.dropped ?? [];
  const folded = `Question ${first / 2}.`;
  const last = `Question ${agent.transcript.length / 2 - 1}.`;
  const at = (position: number): unknown => agent.transcript.at(position)?.message.content;
  expect([at(first), at(-2)]).toEqual([folded, last]);
  // The file's bytes are overwritten to show which of them are read; one part of it stays in memory for a second.
  const written = readFileSync(path, "utf8");
  writeFileSync(path, written.replace(folded, folded.toUpperCase()).replace(last, last.toUpperCase()));
  await expect.poll(() => at(first)).toBe(folded.toUpperCase());
  expect(at(-2)).toBe(last);
});

test("a resumed conversation continues with the same bytes", async () => {
  const events: CompressedEvent[] = [];
  const path = join(folder, "s.jsonl");
  const agent = agentOn(path, events);
  model.respondWith((body) => {
    const messages = body.messages as unknown as readonly Message[];
    return isSummary(messages) ? say(summaryOf(messages)) : answered(body, "words ".repeat(400));
  });
  for (let turn = 0; events.length === 0; turn++) {
    await agent.runConversation({ userMessage: turn === 0 ? FACT : `Question ${turn} ${"and more ".repeat(100)}` });
  }
  const before = JSON.stringify(sent());
  await agent.close();
  for (const journal of journals.splice(0)) journal.close();
  const read = await readJournal(path);
  if (!read.ok) throw new Error(read.message);
  const next = agentOn(path, events, { stored: read.session });
  await next.runConversation({ userMessage: "go on" });
  expect(JSON.stringify(sent()).startsWith(before.slice(0, -1))).toBe(true);
});

test("without a summarizing model a list replaces the summary, and the user gets a notice", async () => {
  const events: CompressedEvent[] = [];
  const notices: string[] = [];
  const agent = agentOn(join(folder, "s.jsonl"), events, {}, (message) => notices.push(message));
  model.respondWith((body) => {
    const messages = body.messages as unknown as readonly Message[];
    return isSummary(messages)
      ? { status: 400, body: '{"error":{"message":"no"}}' }
      : answered(body, "words ".repeat(400));
  });
  for (let turn = 0; events.length === 0; turn++) await agent.chat(turn === 0 ? FACT : `Question ${turn}`);
  expect(notices).toEqual([expect.stringContaining("could not be summarised")]);
  expect(JSON.stringify(agent.messages)).toContain("The user asked:\\n");
  expect(JSON.stringify(agent.messages)).toContain("heliotrope-42");
});

test("a cancelled compression changes nothing", async () => {
  const agent = agentOn(join(folder, "s.jsonl"), []);
  model.respondWith((body) => answered(body, "words ".repeat(200)));
  for (let turn = 0; turn < 20; turn++) await agent.chat(`Question ${turn} ${"and more ".repeat(50)}`);
  const before = agent.messages;
  const cancel = new AbortController();
  model.respondWith(() => {
    cancel.abort();
    return say("late");
  });
  await expect(agent.compress("the names", cancel.signal)).rejects.toThrow();
  expect(agent.messages).toEqual(before);
  expect(agent.session.conversation.compression).toBeUndefined();
});

test.for(["recency", "summary"])(
  "a list stands for what went, again and again (%s), and never fills the window",
  async (strategy) => {
    const events: CompressedEvent[] = [];
    const contextEngine = defaultEngine(undefined, strategy);
    const agent = agentOn(join(folder, "s.jsonl"), events, { contextEngine });
    model.respondWith((body) => {
      const messages = body.messages as unknown as readonly Message[];
      model.forget();
      return isSummary(messages)
        ? { status: 400, body: '{"error":{"message":"no"}}' }
        : answered(body, "words ".repeat(400));
    });
    for (let turn = 0; events.length < COMPRESSIONS; turn++) {
      await agent.chat(turn === 0 ? FACT : `Question ${turn} ${"and more ".repeat(100)}`);
    }
    for (const { tokensBefore, tokensAfter } of events) expect(tokensAfter).toBeLessThan(tokensBefore * 0.8);
    expect(JSON.stringify(agent.messages)).toContain("heliotrope-42");
  },
);

test("an updated summary may be as long as the earlier one", async () => {
  const events: CompressedEvent[] = [];
  const asked: number[] = [];
  const agent = agentOn(join(folder, "s.jsonl"), events);
  model.respondWith((body) => {
    const messages = body.messages as unknown as readonly Message[];
    if (!isSummary(messages)) return answered(body, "words ".repeat(400));
    asked.push(Number(/at most (\d+) tokens/.exec(String(messages[0]?.content))?.[1]));
    return say("## Facts\n".padEnd(3_600, "fact "));
  });
  for (let turn = 0; turn < 8; turn++) await agent.chat(`Question ${turn} ${"and more ".repeat(100)}`);
  await agent.compress("the names", AbortSignal.timeout(30_000));
  await agent.chat("a short question");
  await agent.compress("the names", AbortSignal.timeout(30_000));
  expect(asked).toHaveLength(2);
  expect(asked[1]).toBeGreaterThan(900);
});

test("a fallback with a smaller window summarizes in parts that fit", async () => {
  const events: CompressedEvent[] = [];
  const notices: string[] = [];
  const agent = agentOn(join(folder, "s.jsonl"), events, {}, (message) => notices.push(message));
  const seen: string[] = [];
  model.respondWith((body) => {
    const messages = body.messages as unknown as readonly Message[];
    const isTiny = body["model"] === "tiny";
    if (isTiny) expect(estimateTokens(messages)).toBeLessThan(TINY_WINDOW);
    if (!isSummary(messages)) return answered(body, "words ".repeat(20));
    seen.push(String(messages[1]?.content));
    return say("## Facts\nThe facts.");
  });
  for (let turn = 0; turn < 20; turn++) await agent.chat(`Question ${turn} ${"and more ".repeat(270)}`);
  expect(events).toEqual([]);
  const tiny = { model: "tiny", baseUrl: model.baseUrl, apiKey: "sk-12345678", provider: "custom" };
  agent.setup.models.choose(agent.setup.resolve(tiny));
  await agent.chat("and now?");
  expect(notices).toEqual([]);
  expect(seen.length).toBeGreaterThan(1);
  for (let turn = 1; turn < 19; turn++) expect(seen.join("\n")).toContain(`Question ${turn} `);
  expect(seen[1]).toContain("<earlier-summary>\n## Facts\nThe facts.");
});
