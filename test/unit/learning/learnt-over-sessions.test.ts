// Learning over several sessions: uses of what was learnt, what stays forgotten, and contradictions of the memory.
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { learningFolder, memoriesFolder, sessionsFolder } from "../../../agent-core/config/home.ts";
import { consolidation } from "../../../agent-core/learning/consolidation/consolidation.ts";
import { type Fact, factId } from "../../../agent-core/learning/facts.ts";
import { LearningLedger } from "../../../agent-core/learning/learning-ledger.ts";
import { LearntContext } from "../../../agent-core/learning/learnt-context.ts";
import type { Loop, LoopPorts } from "../../../agent-core/learning/loop.ts";
import { isLeftOut, receiptOf } from "../../../agent-core/learning/receipts.ts";
import { Memory, memorySnapshot } from "../../../agent-core/memory/memory.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { stated } from "./support/stating-model.ts";

const NOW = Date.UTC(2026, 10, 20, 12);
const HOUR = 3_600_000;

let home: string;
let clock: ManualClock;
let notices: (string | undefined)[];
/** Answer of the model about a session's transcript; undefined: no model. */
let answer: ((transcript: string) => object) | undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-learnt-"));
  clock = new ManualClock(NOW);
  notices = [];
  answer = (transcript) => ({
    episode: { summary: "Published the kavlin price list.", task_type: "x", outcome: "success" },
    user_signals: stated(transcript),
  });
});

const idOf = (number: number): string => `202611${String(10 + number)}_100000_${String(number).padStart(8, "0")}`;

/** A session of these messages: the user's and the agent's in turn. */
function session(number: number, texts: readonly string[], cwd = "/project/alpha"): string {
  const id = idOf(number);
  const at = Date.UTC(2026, 10, 10 + number, 10);
  mkdirSync(sessionsFolder(home), { recursive: true });
  appended(id, { type: "session", version: 1, id, cwd, at });
  for (const [position, content] of texts.entries()) {
    const role = position % 2 === 0 ? "user" : "assistant";
    appended(id, { type: "message", position, message: { role, content }, at: at + position * 1_000 });
  }
  appended(id, { type: "turn-end", stopReason: "end_turn", at: at + 60_000 });
  return id;
}

function appended(id: string, ...entries: readonly object[]): void {
  const lines = entries.map((entry) => `${JSON.stringify({ at: NOW, ...entry })}\n`);
  appendFileSync(join(sessionsFolder(home), `${id}.jsonl`), lines.join(""));
}

function loop(): Promise<Loop> {
  const ports = {
    home,
    clock,
    ledger: new LearningLedger(home, clock),
    isOpen: () => false,
    log: () => undefined,
    settings: () => ({ sessionIdleMinutes: 10, dailyTokens: 1_000 }),
    notify: (message: string | undefined) => notices.push(message),
    model: {
      isAvailable: () => Promise.resolve(answer !== undefined),
      ask: (_: string, messages: readonly { readonly content: unknown }[]) => {
        const text = JSON.stringify(answer?.(String(messages[1]?.content)));
        return Promise.resolve({ ok: true, text });
      },
    },
  };
  return consolidation(ports as unknown as LoopPorts);
}

async function runAll(): Promise<void> {
  const { work } = await loop();
  while (await work.doNext(new AbortController().signal));
}

test("counts the sessions in which a fact was in the prompt, and those that an episode was attached to", async () => {
  session(1, ["Publish the kavlin price list. Always run `make check` first.", "Ok."]);
  await runAll();
  const context = new LearntContext({ home, sessionId: "s-0", roots: ["/project/alpha"], clock });
  const attached = await context.attach("Publish the kavlin price list again");
  for (const number of [2, 3]) {
    const id = session(number, ["Say hello", "Hello."]);
    appended(id, {
      type: "system-prompt",
      text: `You are Hermes.\n\n${await context.promptText()}\n\nToday is Friday.`,
    });
    if (number === 3) {
      appended(id, { type: "message", position: 2, message: { role: "user", content: attached, synthetic: true } });
    }
  }
  await runAll();
  await runAll();
  const used = (await (await loop()).store.items()).map(({ kind, sessions, used: count }) => [
    kind,
    sessions[0],
    count,
  ]);
  expect(used).toEqual(
    expect.arrayContaining([
      ["preference", idOf(1), 2],
      ["episode", idOf(1), 1],
      ["episode", idOf(2), 0],
    ]),
  );
});

test("what was forgotten stays forgotten when its session grows and repeats it to the model", async () => {
  const first = session(1, ["Always sign with `kk7`.", "Ok.", "Always sign with `kk7`.", "Ok."]);
  const second = session(2, ["Find the zebra in the archive", "Found."]);
  answer = (transcript) => ({
    episode: { summary: "Signed with `kk7`.", task_type: "work", outcome: "success" },
    user_signals: stated(transcript),
  });
  await runAll();
  const { store } = await loop();
  const rule = (await store.items()).find(({ kind }) => kind === "preference");
  expect(await store.act(rule?.id ?? "", "forget")).toMatchObject({ ok: true });
  expect(await store.act(`e-${second}`, "forget")).toMatchObject({ ok: true });
  for (const id of [first, second]) {
    appended(id, { type: "message", position: 4, message: { role: "user", content: "Thanks, that was it" } });
  }
  await runAll();
  const texts = readdirSync(learningFolder(home), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:md|jsonl)$/.test(name))
    .map((name) => readFileSync(join(learningFolder(home), name), "utf8"));
  expect(texts.join("\n")).not.toMatch(/kk7|zebra/);
});

/** Both a note of the agent and a line of the user say how reports end. */
async function notedReports(): Promise<Memory> {
  const memory = new Memory({ folder: memoriesFolder(home), now: () => NOW - 30 * 24 * HOUR });
  const origin = { by: "agent", sessionId: idOf(9), callId: "c" } as const;
  await memory.change("memory", { action: "add", content: "Reports always end with `-- k4`." }, origin);
  writeFileSync(memory.path("user"), "Reports always end with `-- k5`.\n§\nSpeaks German.\n");
  session(1, ["From now on reports always end with `-- m5`.", "Ok."]);
  return memory;
}

test("a newer rule leaves the notes of the memory that say otherwise", async () => {
  const memory = await notedReports();
  await runAll();
  expect(await memory.read("memory")).toEqual(["Reports always end with `-- k4`."]);
  expect(notices.slice(1)).toEqual(["Keep this for later? From now on reports always end with `-- m5`."]);
  const snapshot = await memorySnapshot(memory, { isBad: () => undefined, onDefect: () => undefined });
  expect(`${snapshot.memory} ${snapshot.user}`).toMatch(/k4.*k5/s);
});

test("a note of the agent that the model names as replaced goes, and a line of the user stays", async () => {
  const memory = await notedReports();
  answer = (transcript) => {
    const idsOf = (part: string) => new RegExp(`\\[(m-\\w+)\\] .*${part}`).exec(transcript)?.[1];
    const signal = { text: "Reports always end with `-- m5`.", quote: "reports always end with `-- m5`" };
    const named = ["k4", "k5"].map((part) => ({ ...signal, supersedes: idsOf(part) }));
    return { episode: { summary: "Ok.", task_type: "x", outcome: "success" }, user_signals: named };
  };
  await runAll();
  expect(await memory.read("memory")).toEqual([]);
  expect(await memory.read("user")).toHaveLength(2);
  expect(notices.at(-1)).toMatch(/Replaced in the memory: .*k4.* Your own note says otherwise, and stays: .*k5/);
  expect((await memory.undo(await memory.writes())).ok).toBe(true);
});

test("a note that an earlier version replaced by a fact is in no prompt: the fact is, as long as it holds", async () => {
  const memory = new Memory({ folder: memoriesFolder(home), now: () => NOW });
  const origin = { by: "learning", sessionId: idOf(9), callId: "f-1" } as const;
  await memory.change("memory", { action: "add", content: "The tests run with `bash -c evil`." }, origin);
  await memory.change("memory", { action: "add", content: "Node 24 is used." }, { ...origin, by: "agent" });
  const snapshot = await memorySnapshot(memory, { isBad: () => undefined, onDefect: () => undefined });
  expect(snapshot.memory).toContain("Node 24");
  expect(snapshot.memory).not.toContain("evil");
});

test.each([
  [8417, "closed"],
  [9032, "active"],
])("a line is closed when the user rejects what followed it: port %j used", async (port, state) => {
  const text = "The mailer listens on port 8417.";
  session(1, [text, "Ok."]);
  const episode = { summary: "Looked at ports.", task_type: "x", outcome: "success" };
  const fact = { subject: "mailer", attribute: "port", value: "8417", text, quote: text, position: 0 };
  answer = () => ({ episode, facts: [fact] });
  await runAll();
  const second = session(2, ["Write the settings"]);
  const context = new LearntContext({ home, sessionId: second, roots: ["/project/alpha"], clock });
  appended(second, { type: "system-prompt", text: await context.promptText() });
  const called = { name: "write_file", arguments: JSON.stringify({ path: "a.conf", content: `port=${port}` }) };
  const calls = [{ id: "c", type: "function", function: called }];
  for (const message of [
    { role: "assistant", content: "", tool_calls: calls },
    { role: "tool", tool_call_id: "c", content: "written" },
    { role: "user", content: "No, that is wrong." },
  ]) {
    appended(second, { type: "message", message });
  }
  answer = (transcript) => {
    const id = /\[(f-\w+)\]/.exec(transcript)?.[1];
    return { episode, refuted: [{ id, quote: "No, that is wrong." }] };
  };
  await runAll();
  expect((await (await loop()).store.items()).find(({ kind }) => kind === "fact")?.state).toBe(state);
});

test("the first question of a home says what learning costs and how to stop it", async () => {
  session(1, ["Hello there", "Hi."]);
  await runAll();
  session(2, ["Hello again", "Hi."]);
  await runAll();
  const line = "Hermes asks your model what to keep of ended sessions, for at most 1,000 tokens a day.";
  expect(notices).toEqual([`${line} \`/learning off\` stops it.`]);
});

test("a fact is closed with the reason once its cited file no longer says it", async () => {
  const project = mkdtempSync(join(tmpdir(), "hermes-cited-"));
  writeFileSync(join(project, "ports.txt"), "mailer 8417\n");
  const text = "The mailer listens on port 8417.";
  session(1, [text, "Ok."], project);
  const episode = { summary: "Looked at ports.", task_type: "x", outcome: "success" };
  const fact = { subject: "mailer", attribute: "port", value: "8417", text, quote: text, position: 0 };
  answer = () => ({ episode, facts: [{ ...fact, cites: "ports.txt:1" }] });
  await runAll();
  const stateOf = async (): Promise<unknown> =>
    (await (await loop()).store.items()).find(({ kind }) => kind === "fact")?.state;
  expect(await stateOf()).toBe("active");
  const context = new LearntContext({ home, sessionId: "s-1", roots: [project], clock });
  expect(await context.promptText()).toContain(text);
  writeFileSync(join(project, "ports.txt"), "mailer 9032\n");
  const later = new LearntContext({ home, sessionId: "s-1", roots: [project], clock });
  expect(await later.promptText()).toBeUndefined();
  await runAll();
  expect(await stateOf()).toBe("closed");
  const ledger = await new LearningLedger(home, clock).read();
  expect(ledger.at(-1)).toMatchObject({ op: "close", reason: "ports.txt:1 no longer says it." });
});

test("an item is left out of a tenth of its sessions, and its receipt compares them with the others", () => {
  const text = "Never push to main.";
  const id = factId("p", "user", text);
  const fact = { id, text, scope: "user", source: "user", isPinned: false, from: 0, until: undefined } as Fact;
  const ids = Array.from({ length: 1_000 }, (_, at) => `s-${at}`);
  const first = Array.from({ length: 10 }, (_, at) => ({ at: at + 1, cwd: "/p" }));
  const without = ids.filter((session) => isLeftOut(session, fact, first));
  expect(without.length).toBeGreaterThan(60);
  expect(without.length).toBeLessThan(140);
  expect(ids.filter((session) => isLeftOut(session, fact, first.slice(1)))).toEqual([]);
  expect(ids.filter((session) => isLeftOut(session, { ...fact, isPinned: true }, first))).toEqual([]);
  expect(ids.filter((session) => isLeftOut(session, { ...fact, from: 1 }, first))).toEqual([]);
  expect(ids.filter((session) => isLeftOut(session, { ...fact, scope: "/other" }, first))).toEqual([]);
  const sessions = ids.slice(0, 100).map((session, at) => {
    const isOut = at >= 10 && without.includes(session);
    const corrections = isOut ? 2 : 0;
    return { session, at: at + 1, cwd: "/p", used: isOut ? [] : [id], corrections: at < 10 ? 9 : corrections };
  });
  // The first ten sessions all had it: they are not compared.
  expect(receiptOf(fact, sessions.toReversed())).toMatch(
    /^With it 0\.0 corrections a session \(\d+ sessions\), without 2\.0 \(\d+\)\.$/,
  );
  expect(receiptOf(fact, sessions.slice(0, 12))).toBe("");
});

test("what was just learnt is in the prompt of every session, until ten sessions of its project had it", async () => {
  const rule = "Always run `make check` first.";
  session(1, [rule, "Ok."]);
  const countOf = async (): Promise<number> => {
    await runAll();
    const ids = Array.from({ length: 100 }, (_, at) => `s-${at}`);
    const prompts = ids.map((sessionId) => {
      return new LearntContext({ home, sessionId, roots: ["/project/alpha"], clock }).promptText();
    });
    return (await Promise.all(prompts)).filter((prompt) => prompt?.includes(rule)).length;
  };
  expect(await countOf()).toBe(100);
  for (let number = 2; number <= 10; number++) session(number, ["Say hello", "Hello."]);
  session(12, ["Say hello", "Hello."], "/project/beta");
  expect(await countOf()).toBe(100);
  session(11, ["Say hello", "Hello."]);
  const later = await countOf();
  expect(later).toBeGreaterThan(70);
  expect(later).toBeLessThan(100);
});
