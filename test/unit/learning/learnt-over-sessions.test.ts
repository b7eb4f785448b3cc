// Learning over several sessions: uses of what was learnt, what stays forgotten, and contradictions of the memory.
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { learningFolder, memoriesFolder, sessionsFolder } from "../../../agent-core/config/home.ts";
import { consolidation } from "../../../agent-core/learning/consolidation/consolidation.ts";
import { LearningLedger } from "../../../agent-core/learning/learning-ledger.ts";
import { LearntContext } from "../../../agent-core/learning/learnt-context.ts";
import type { Loop, LoopPorts } from "../../../agent-core/learning/loop.ts";
import { Memory, memorySnapshot } from "../../../agent-core/memory/memory.ts";
import { ManualClock } from "../../support/manual-clock.ts";

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
  answer = undefined;
});

const idOf = (number: number): string => `202611${String(10 + number)}_100000_${String(number).padStart(8, "0")}`;

/** A session of these messages: the user's and the agent's in turn. */
function session(number: number, texts: readonly string[]): string {
  const id = idOf(number);
  const at = Date.UTC(2026, 10, 10 + number, 10);
  mkdirSync(sessionsFolder(home), { recursive: true });
  appended(id, { type: "session", version: 1, id, cwd: "/project/alpha", at });
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
    settings: () => ({ sessionIdleMinutes: 10 }),
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
  const context = new LearntContext({ home, roots: ["/project/alpha"], clock });
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
  const first = session(1, ["Always sign with `kk7`.", "Ok.", "Again: Always sign with `kk7`.", "Ok."]);
  const second = session(2, ["Find the zebra in the archive", "Found."]);
  answer = (transcript) => ({
    episode: { summary: "Signed with `kk7`.", task_type: "work", outcome: "success" },
    facts: transcript.includes("kk7")
      ? [{ subject: "user", kind: "preference", text: "Always sign with `kk7`.", quote: "sign with `kk7`" }]
      : [],
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
  expect(notices).toEqual(["Learnt: Reports always end with `-- m5`."]);
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
  expect(notices.at(-1)).toMatch(/^Replaced in the memory: .*k4.* Your own note says otherwise, and stays: .*k5/);
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
