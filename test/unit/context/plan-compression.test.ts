import { expect, test } from "vitest";
import { type CompressionRequest, planCompression } from "../../../agent-core/context/plan-compression.ts";
import { strategies, strategyOf, unitsOf } from "../../../agent-core/context/strategies.ts";
import { estimateTokens } from "../../../agent-core/context/token-meter.ts";
import type { Message } from "../../../agent-core/messages/message.ts";
import { repairMessages } from "../../../agent-core/messages/repair.ts";
import { Conversation } from "../../../agent-core/sessions/conversation.ts";
import { sweep } from "../../support/scale.ts";
import { type Random, seeded } from "../approval/support/random.ts";

const words = (count: number, word = "word"): string => Array.from({ length: count }, () => word).join(" ");
const user = (content: string): Message => ({ role: "user", content });
const answer = (content: string): Message => ({ role: "assistant", content });
const call = (id: string, name = "read_file"): Message => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name, arguments: "{}" } }],
});
const result = (id: string, content: string): Message => ({ role: "tool", tool_call_id: id, content });

function talk(...messages: readonly Message[]): Conversation {
  const conversation = new Conversation();
  for (const message of messages) conversation.append(message);
  return conversation;
}

function room(conversation: Conversation, target: number, strategy = "summary"): CompressionRequest {
  const { transcript: said, compression } = conversation;
  return { transcript: said, compression, target, enough: target, strategy: strategyOf(strategy) };
}

const exchanges = (count: number, length = 100): Message[] =>
  Array.from({ length: count }, (_, index) => [user(`question ${index}`), answer(words(length))]).flat();

test("a conversation with nothing between its beginning and its end keeps all of it", () => {
  expect(planCompression(room(talk(user("one"), answer("two")), 1))).toBeUndefined();
});

test("the first exchange, the newest messages and the user's last request stay; the middle is dropped", () => {
  const plan = planCompression(room(talk(...exchanges(40)), 3_000));
  expect(plan?.dropped[0]?.[0]).toBe(2);
  expect(plan?.fresh.every(({ position }) => position >= 2 && position < 78)).toBe(true);
  const last = plan?.dropped.at(-1)?.[1] ?? 0;
  expect(last).toBeLessThan(60);
  expect(plan?.summaryTokens).toBeGreaterThanOrEqual(300);
});

test("the user's request stays in one long turn", () => {
  const steps = Array.from({ length: 60 }, (_, index) => [call(`c${index}`), result(`c${index}`, words(60))]).flat();
  const conversation = talk(user("the request"), ...steps);
  const plan = planCompression(room(conversation, 1_500));
  conversation.compress({ ...plan!, summary: "sum" });
  expect(conversation.messages[0]).toEqual(user("the request"));
  expect(estimateTokens(conversation.messages)).toBeLessThan(2_000);
});

test("nothing is dropped when shorter outputs are enough, and the newest of equal outputs keeps its beginning", () => {
  const long = words(2_000);
  const conversation = talk(
    ...[user("go"), call("a"), result("a", long), call("b"), result("b", long)],
    ...exchanges(3, 10),
    ...[user("and now"), answer("done")],
  );
  const plan = planCompression({ ...room(conversation, 1_500), enough: 4_000 });
  expect(plan?.dropped).toEqual([]);
  expect(plan?.shortened.map(({ position }) => position)).toContain(2);
  expect(plan?.summaryTokens).toBe(0);
});

test("a single result that is longer than the window keeps its beginning and its end", () => {
  const conversation = talk(user("go"), call("a"), result("a", `begin ${words(30_000)} end`));
  const plan = planCompression(room(conversation, 4_000));
  const [cut] = plan?.shortened ?? [];
  expect(cut?.content.startsWith("begin")).toBe(true);
  expect(cut?.content.endsWith("end")).toBe(true);
  expect(cut?.content.length).toBeLessThan(9_000);
});

test("the newest result, which the model has not read, stays whole while the window has room for it", () => {
  const old = [call("a"), result("a", words(3_000)), call("b"), result("b", words(3_000))];
  const conversation = talk(user("go"), ...old, call("c"), result("c", words(3_000)));
  const plan = planCompression({ ...room(conversation, 1_000), room: 6_000 });
  expect(plan?.fresh.map(({ position }) => position)).toEqual([1, 2, 3, 4]);
  expect(plan?.shortened).toEqual([]);
  const small = planCompression({ ...room(conversation, 1_000), room: 2_000 });
  expect(small?.shortened.map(({ position }) => position)).toEqual([6]);
});

test("many long results of one answer are cut from their originals until they fit", () => {
  const calls = Array.from({ length: 10 }, (_, index) => `c${index}`);
  const asked: Message = {
    role: "assistant",
    content: null,
    tool_calls: calls.map((id) => ({ id, type: "function", function: { name: "read_file", arguments: "{}" } })),
  };
  const conversation = talk(user("go"), asked, ...calls.map((id) => result(id, `begin ${words(4_000)} end`)));
  for (const target of [12_000, 4_000]) {
    conversation.compress({ ...planCompression(room(conversation, target))!, summary: null });
    expect(estimateTokens(conversation.messages)).toBeLessThan(target);
  }
  const { shortened = [] } = conversation.compression ?? {};
  expect(shortened).toHaveLength(10);
  expect(shortened.every(({ content }) => content.match(/left out/g)?.length === 1)).toBe(true);
  expect(shortened.every(({ content }) => content.startsWith("begin") && content.endsWith("end"))).toBe(true);
});

test("a later compression includes the messages of the earlier one", () => {
  const conversation = talk(...exchanges(40));
  conversation.compress({ ...planCompression(room(conversation, 3_000))!, summary: "first" });
  for (const message of exchanges(40)) conversation.append(message);
  const before = conversation.compression?.dropped[0];
  const plan = planCompression(room(conversation, 3_000));
  expect(plan?.dropped[0]?.[0]).toBe(before?.[0]);
  expect(plan?.dropped.at(-1)?.[1]).toBeGreaterThan(before?.[1] ?? 0);
  expect(plan?.fresh.some(({ position }) => position <= (before?.[1] ?? 0) && position >= (before?.[0] ?? 0))).toBe(
    false,
  );
});

test("recency drops the oldest, importance the least important, hybrid never the newest", () => {
  const conversation = talk(
    ...exchanges(2, 50),
    ...[user("remember: never use tabs"), answer(words(200))],
    ...exchanges(10, 200),
  );
  const dropped = (strategy: string): number[] =>
    planCompression(room(conversation, 1_800, strategy))?.fresh.map(({ position }) => position) ?? [];
  expect(dropped("recency")[0]).toBe(2);
  expect(dropped("importance")).not.toContain(4);
  expect(Math.max(...dropped("hybrid"))).toBeLessThanOrEqual(Math.max(...dropped("summary")));
});

test("importance keeps a rule of the user longer than other words", () => {
  const units = unitsOf(talk(user("never tabs everywhere"), user("maybe tabs everywhere")).transcript);
  expect(strategyOf("importance").choose(units, 1)).toEqual([units[1]]);
});

/** Something that could be said next. */
function randomMessages(random: Random, id: number): Message[] {
  if (random.chance(0.3)) return [user(words(1 + random.below(60), random.pick(["a", "bb", "important"])))];
  if (random.chance(0.3)) return [answer(words(1 + random.below(200)))];
  const calls = Array.from({ length: 1 + random.below(3) }, (_, index) => `c${id}_${index}`);
  const asked: Message = {
    role: "assistant",
    content: random.chance(0.5) ? "I look." : null,
    tool_calls: calls.map((call) => ({ id: call, type: "function", function: { name: "terminal", arguments: "{}" } })),
  };
  return [asked, ...calls.map((call) => result(call, words(random.below(random.chance(0.2) ? 4_000 : 100))))];
}

/** Throws when a model could not be sent this. */
function expectValid(messages: readonly Message[]): void {
  const sent = repairMessages([{ role: "system", content: "s" }, ...messages]);
  expect(sent[0]?.role).toBe("system");
  const open = new Set<string>();
  for (const [index, message] of sent.entries()) {
    if (message.role === "tool") {
      expect(open.delete(message.tool_call_id)).toBe(true);
      continue;
    }
    expect(message.role).not.toBe(sent[index - 1]?.role);
    expect(open.size).toBe(0);
    const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
    expect(message.content !== null || calls.length > 0).toBe(true);
    for (const { id } of calls) open.add(id);
  }
  expect(open.size).toBe(0);
}

function compressAtRandom(conversation: Conversation, random: Random, strategy: string): void {
  const plan = planCompression(room(conversation, 200 + random.below(4_000), strategy));
  if (plan !== undefined) conversation.compress({ ...plan, summary: random.chance(0.9) ? "summary" : null });
}

/** Only ever before a message of the user's, or behind it, as the commands do. */
function takeBackAtRandom(conversation: Conversation, random: Random): void {
  const users = conversation.transcript.filter(({ message }) => message.role === "user");
  if (users.length > 0) conversation.rewind(random.pick(users).position + random.below(2));
}

test.each(strategies.map(({ name }) => name))(
  "a request is valid after any messages, compressions (%s) and rewinds",
  (name) => {
    const random = seeded(name.length * 7_919);
    for (let round = 0; round < sweep(40, 15); round++) {
      const conversation = talk(user("begin"));
      for (let step = 0; step < 60; step++) {
        for (const message of randomMessages(random, step)) conversation.append(message);
        if (random.chance(0.15)) compressAtRandom(conversation, random, name);
        if (random.chance(0.05)) takeBackAtRandom(conversation, random);
        expectValid(conversation.messages);
      }
    }
  },
);

test.each(["summary", "importance"])(
  "%s: 30,000 messages with many words are planned within the time of a test",
  (name) => {
    const messages = Array.from({ length: 15_000 }, (_, index) => [
      user(`question${index} word${index} other${index} more${index} last${index}`),
      answer(`answer${index} thing${index} file${index} test${index} line${index}`),
    ]);
    const plan = planCompression(room(talk(...messages.flat()), 50_000, name));
    expect(plan?.fresh.length).toBeGreaterThan(10_000);
  },
);
