import { expect, test } from "vitest";
import { ReplayPages, replay } from "../../../agent-core/acp/replay.ts";
import { Conversation } from "../../../agent-core/sessions/conversation.ts";
import type { StoredSession } from "../../../agent-core/sessions/read-journal.ts";

const { signal: never } = new AbortController();

function session(turns: number): { readonly conversation: Conversation; readonly stored: StoredSession } {
  const conversation = new Conversation();
  for (let turn = 0; turn < turns; turn += 1) say(conversation, turn);
  const stored: StoredSession = {
    id: "s",
    path: "/s.jsonl",
    size: 0,
    cwd: "/",
    begunAt: 0,
    failedTurn: undefined,
    lastVerdictAt: undefined,
    damagedLines: 0,
    unsaved: undefined,
    mode: undefined,
    delegatedBy: undefined,
    title: undefined,
    systemPrompt: undefined,
    goal: undefined,
    model: undefined,
    reasoningEffort: undefined,
    conversation,
    todos: [],
    plans: [],
    records: [],
    toolEntry: () => undefined,
    decisionsOf: () => undefined,
    decide: () => undefined,
    endedCalls: new Set<string>(),
    diffsOf: () => [],
    noticesAt: () => [],
  };
  return { conversation, stored };
}

function say(conversation: Conversation, turn: number): void {
  conversation.append({ role: "user", content: `question ${turn}` });
  conversation.append({ role: "assistant", content: `answer ${turn}` });
}

const texts = (updates: readonly unknown[]): unknown[] =>
  (updates as { content: { text: string } }[]).map(({ content }) => content.text);

test("a page equals its part of a replay", async () => {
  const { conversation, stored } = session(4);
  const earlier = new ReplayPages(() => conversation.transcript, stored);
  const page = await earlier.page({ before: 6, messages: 4, signal: never });
  expect(texts(page.updates)).toEqual(["question 1", "answer 1", "question 2", "answer 2"]);
  expect(page.updates[0]).toMatchObject({ _meta: { hermes: { position: 2 } } });
  expect(page.earlier).toEqual({ before: 2, messages: 2 });
});

test("messages since the session was opened are on no page, and a new session has none", async () => {
  const { conversation, stored } = session(2);
  const earlier = new ReplayPages(() => conversation.transcript, stored);
  say(conversation, 2);
  expect(texts((await earlier.page({ before: 100, signal: never })).updates)).toHaveLength(4);
  const fresh = new ReplayPages(() => conversation.transcript, undefined);
  expect(await fresh.page({ before: 100, signal: never })).toEqual({ updates: [], earlier: null });
});

test("a page that was rewound meanwhile contains the remaining messages", async () => {
  const { conversation, stored } = session(4);
  const earlier = new ReplayPages(() => conversation.transcript, stored);
  conversation.rewind(2);
  const page = await earlier.page({ before: 6, messages: 2, signal: never });
  expect(texts(page.updates)).toEqual(["question 0", "answer 0"]);
  expect(page.earlier).toBe(null);
});

test("a rewind does not change a page that is being built", async () => {
  const { conversation, stored } = session(100);
  const earlier = new ReplayPages(() => conversation.transcript, stored);
  const making = earlier.page({ before: 200, signal: never });
  conversation.rewind(2);
  expect((await making).updates).toHaveLength(200);
});

test("a cancelled page rejects with the signal's reason", async () => {
  const { conversation, stored } = session(100);
  const earlier = new ReplayPages(() => conversation.transcript, stored);
  const controller = new AbortController();
  const making = earlier.page({ before: 200, signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(making).rejects.toThrow("enough");
});

test("a page of a compressed session contains the original messages", async () => {
  const { conversation, stored } = session(4);
  conversation.compress({ dropped: [[2, 5]], summary: "sum", shortened: [] });
  const earlier = new ReplayPages(() => conversation.transcript, stored);
  const page = await earlier.page({ before: 6, messages: 2, signal: never });
  expect(texts(page.updates)).toEqual(["question 2", "answer 2"]);
});

test("a call whose result was never stored has the name of its tool", () => {
  const { conversation, stored } = session(0);
  const call = { id: "c1", type: "function" as const, function: { name: "patch", arguments: '{"path":"a.txt"}' } };
  conversation.append({ role: "assistant", content: null, tool_calls: [call] });
  const update = { title: "Patch", status: "failed", rawInput: { path: "a.txt" } };
  expect([...replay(stored)]).toMatchObject([update]);
});
