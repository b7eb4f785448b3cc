// Learning over several sessions: uses of what was learnt, what stays forgotten, and contradictions of the memory.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { learningFolder, memoriesFolder } from "../../../agent-core/config/home.ts";
import type { HookPayload } from "../../../agent-core/hooks/hook.ts";
import { type Fact, factId } from "../../../agent-core/learning/facts.ts";
import { LearningLedger } from "../../../agent-core/learning/learning-ledger.ts";
import { LearntContext } from "../../../agent-core/learning/learnt-context.ts";
import type { Loop } from "../../../agent-core/learning/loop.ts";
import { harms, isLeftOut, receiptOf } from "../../../agent-core/learning/receipts.ts";
import { Memory, memorySnapshot } from "../../../agent-core/memory/memory.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import { idOf, type ModelAnswer, NOW, SessionsHome } from "./support/sessions-home.ts";
import { stated } from "./support/stating-model.ts";

const HOUR = 3_600_000;

let sessions: SessionsHome;
let home: string;
let clock: ManualClock;
let notices: readonly (string | undefined)[];
let answer: ModelAnswer;

beforeEach(() => {
  sessions = new SessionsHome(() => answer);
  ({ folder: home, clock, notices } = sessions);
  answer = (transcript) => ({
    episode: { summary: "Published the kavlin price list.", task_type: "x", outcome: "success" },
    user_signals: stated(transcript),
  });
});

const session = (...given: Parameters<SessionsHome["session"]>): string => sessions.session(...given);
const appended = (id: string, ...entries: readonly object[]): void => sessions.appended(id, ...entries);
const loop = (): Promise<Loop> => sessions.loop();
const runAll = (): Promise<void> => sessions.runAll();

test("the receipt counts the sessions in which a fact was in the prompt, and those that an episode was attached to", async () => {
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

test("a forgotten item stays forgotten when its session grows and repeats it to the model", async () => {
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

test("notes of the agent that one statement replaces go, two at most, and a line of the user stays", async () => {
  const memory = await notedReports();
  answer = (transcript) => {
    const idsOf = (part: string) => new RegExp(`\\[(m-\\w+)\\] .*${part}`).exec(transcript)?.[1];
    const signal = { text: "Reports always end with `-- m5`.", quote: "reports always end with `-- m5`" };
    const named = { ...signal, supersedes: ["p-0", "k4", "k5", "German"].map((part) => idsOf(part) ?? part) };
    return { episode: { summary: "Ok.", task_type: "x", outcome: "success" }, user_signals: [named] };
  };
  await runAll();
  expect(await memory.read("memory")).toEqual([]);
  expect(await memory.read("user")).toHaveLength(2);
  expect(notices.at(-1)).toMatch(/Replaced in the memory: .*k4.* Your own note says otherwise, and stays: .*k5[^G]*$/);
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

/** A port that the agent writes, the user's decision on the last call or on another file, or what the user says. */
type Step = number | string;
const NO = "No, that is wrong.";

function play(id: string, steps: readonly Step[]): void {
  for (const [at, step] of steps.entries()) {
    const verdict = {
      type: "verdict",
      callId: `c${steps.slice(0, at).findLastIndex(Number)}`,
      path: "/project/alpha/a.conf",
      lines: 1,
    };
    if (typeof step === "number") {
      const called = { name: "write_file", arguments: JSON.stringify({ path: "a.conf", content: `port=${step}` }) };
      const calls = [{ id: `c${at}`, type: "function", function: called }];
      appended(id, { type: "message", message: { role: "assistant", content: "", tool_calls: calls } });
      appended(id, { type: "message", message: { role: "tool", tool_call_id: `c${at}`, content: "written" } });
    } else if (step === "kept" || step === "undone") appended(id, { ...verdict, outcome: step });
    else if (step === "undone elsewhere")
      appended(id, { ...verdict, callId: "x", path: "/project/alpha/data.conf", outcome: "undone" });
    else appended(id, { type: "message", message: { role: "user", content: step } });
  }
}

test.each([
  [[8417, NO, 9032], 0],
  [[8417, NO, 8417], 1],
])(
  "a note of the agent that the user rejects leaves the memory when the agent gives it up: %j",
  async (steps, left) => {
    const memory = new Memory({ folder: memoriesFolder(home), now: () => NOW }).forProject("/project/alpha");
    const note = { action: "add", content: "The mailer listens on port 8417." } as const;
    await memory.change("project", note, { by: "agent", sessionId: idOf(9), callId: "c" });
    play(session(2, ["Write the settings"]), steps);
    answer = (transcript) => {
      const id = /\[(m-\w+)\]/.exec(transcript)?.[1];
      const episode = { summary: "Looked at ports.", task_type: "x", outcome: "success" };
      return { episode, refuted: [{ id, quote: "No, that is wrong." }] };
    };
    await runAll();
    expect(await memory.read("project")).toHaveLength(left);
  },
);

const LOG = "The log is named kavlin.";
test.each<[string, string, readonly Step[], string?]>([
  ["used and then given up", "closed", [8417, NO, 9032]],
  ["never used", "active", [9032, NO, 9033]],
  ["used to the end", "active", [8417, NO, 8417]],
  ["used to the end, and kept", "active", [8417, NO, 8417, "kept"]],
  ["used to the end, and undone", "closed", [8417, "undone", NO, 8417, "undone"]],
  ["used to the end, and kept in part", "active", [8417, NO, 8417, "kept", "undone"]],
  ["undone before the objection alone", "active", [8417, "undone", NO, 8417]],
  ["used to the end, while another file was undone", "active", [8417, NO, 8417, "undone elsewhere"]],
  ["given up for one that was undone, too", "active", [8417, NO, 9032, "undone"]],
  ["undone for a reason in the same message", "active", [8417, `${NO} Two lines.`, 8417, "undone"]],
  ["undone for a fact in the same message", "active", [8417, `${NO} ${LOG}`, 8417, "undone"], `${NO} ${LOG}`],
  ["undone for a reason in the next message", "active", [8417, NO, 8417, "undone", LOG]],
  ["confirmed, and undone", "active", [8417, NO, "Sorry, keep port 8417.", 8417, "undone"]],
])("a line whose result the user objected to, and whose value was %s, is %s", async (_, state, steps, quote = NO) => {
  const text = "The mailer listens on port 8417.";
  session(1, [text, "Ok."]);
  const episode = { summary: "Looked at ports.", task_type: "x", outcome: "success" };
  const fact = { subject: "mailer", attribute: "port", value: "8417", text, quote: text, position: 0 };
  answer = () => ({ episode, facts: [fact] });
  await runAll();
  const second = session(2, ["Write the settings"]);
  const context = new LearntContext({ home, sessionId: second, roots: ["/project/alpha"], clock });
  appended(second, { type: "system-prompt", text: await context.promptText() });
  play(second, steps);
  answer = (transcript) => {
    const id = /\[(f-\w+)\]/.exec(transcript)?.[1];
    const position = Number(/\[(\d+) user\] .*kavlin/.exec(transcript)?.[1]);
    const log = { subject: "log", attribute: "name", value: "kavlin", text: LOG, quote: LOG, position };
    return { episode, facts: Number.isNaN(position) ? [] : [log], refuted: [{ id, quote }] };
  };
  await runAll();
  expect((await (await loop()).store.items()).find((item) => item.text === text)?.state).toBe(state);
});

test("the model is asked again about words of the user that its answer leaves out", async () => {
  const rule = "The mailer of this project listens on port 8417.";
  session(1, ["Write the settings", "Done.", `No. ${rule}`, "Done."]);
  const asked: string[] = [];
  const episode = { summary: "Wrote settings.", task_type: "x", outcome: "success" };
  answer = (transcript) => {
    asked.push(transcript);
    const fact = { subject: "mailer", attribute: "port", value: "8417", text: rule, quote: rule, position: 2 };
    return {
      episode,
      facts: asked.length === 1 ? [{ ...fact, text: "The mailer listens on port 9.", value: "9" }] : [fact],
    };
  };
  await runAll();
  expect(asked).toHaveLength(2);
  expect(asked[1]).toContain(`[2 user] No. ${rule}`);
  expect(asked[1]).not.toContain("Write the settings");
  expect((await (await loop()).store.items()).map(({ text }) => text)).toContain(rule);
});

test("words for one task and private words are in no summary", async () => {
  session(1, ["Write the note. Use axios this time. My asthma is bad.", "Done."]);
  const private_ = { text: "My asthma is bad.", quote: "My asthma is bad.", sensitive: true };
  const once = { text: "Use axios this time.", quote: "Use axios this time.", explicit: false };
  answer = () => ({
    episode: {
      summary: "Wrote the note. Used axios this time. The asthma of the user is bad.",
      task_type: "x",
      outcome: "success",
    },
    user_signals: [private_, once],
  });
  await runAll();
  const texts = (await (await loop()).store.items()).map(({ kind, text }) => [kind, text]);
  expect(texts).toEqual([["episode", "Wrote the note."]]);
});

test("a note of the agent moves into the learnt lines, where it can be replaced and checked", async () => {
  const rule = "Always run `make check` before a commit.";
  const memory = new Memory({ folder: memoriesFolder(home), now: () => NOW }).forProject("/project/alpha");
  await memory.change("project", { action: "add", content: rule }, { by: "agent", sessionId: idOf(1), callId: "c" });
  session(1, [`Commit it. ${rule}`, "Done."]);
  await runAll();
  expect((await (await loop()).store.items()).map(({ text }) => text)).toContain(rule);
  expect(await memory.read("project")).toEqual([]);
});

test("the user sees once a session which line the agent follows", async () => {
  const rule = "Commit messages begin with chg: in this project.";
  const check = { on: "commit", require: "^chg:" };
  session(1, ["Commit it.", "Done.", rule, "Done."]);
  answer = () => ({
    episode: { summary: "Committed.", task_type: "x", outcome: "success" },
    user_signals: [{ text: rule, quote: rule, value: "chg", explicit: true, check }],
  });
  await runAll();
  const used: string[] = [];
  const onUse = (message: string): unknown => used.push(message);
  const context = new LearntContext({ home, sessionId: "s", roots: ["/project/alpha"], clock, onUse });
  await context.promptText();
  const [hook] = context.hooks();
  const call = (command: string) => {
    const payload = { tool_input: { command }, cwd: "/project/alpha" } as unknown as HookPayload;
    return hook?.run(payload, new AbortController().signal);
  };
  expect(await call('git commit -m "wip: one"')).toMatchObject({ decision: "block" });
  expect(used).toEqual([]);
  for (const name of ["one", "two"]) expect(await call(`git commit -m "chg: ${name}"`)).toEqual({});
  expect(used).toEqual([`Used: ${rule} (since 11 November 2026)`]);
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

test("a fact that only a tool's output says closes when the user does not confirm it in 30 days", async () => {
  const text = "The mailer listens on port 8417.";
  const row = (id: string, notes: string): string =>
    `- [${id}] ${text} · in /project/alpha · seen 1 · from 2026-11-10T10:00:00.000Z · ${notes}evidence ${idOf(1)}:0`;
  const folder = join(learningFolder(home), "entities");
  mkdirSync(folder, { recursive: true });
  const rows = [
    row(factId("f", "/project/alpha", text), "from a tool · "),
    row(factId("f", "/project/beta", text), ""),
  ];
  writeFileSync(
    join(folder, "mailer.md"),
    `# mailer (service)\n\n${rows.join("\n").replace(/alpha(?=[^\n]*$)/, "beta")}\n`,
  );
  const states = async (): Promise<unknown> =>
    (await (await loop()).store.items()).map(({ state }) => state).toSorted();
  await runAll();
  const before = await states();
  await clock.advance(31 * 24 * HOUR);
  await runAll();
  expect([before, await states()]).toEqual([
    ["active", "proposed"],
    ["active", "closed"],
  ]);
});

test("a fact of an old session closes 30 days after it was learnt, and 30 days after the user restored it", async () => {
  const project = mkdtempSync(join(tmpdir(), "hermes-cited-"));
  const text = "The mailer listens on port 8417.";
  const id = session(-40, ["What does the settings file say?", "Let me see."], project, "20261001_100000_00000001");
  const called = { id: "c", type: "function", function: { name: "read_file", arguments: '{"path":"a.conf"}' } };
  const calls = { role: "assistant", content: "", tool_calls: [called] };
  const at = Date.UTC(2026, 9, 1, 11);
  for (const message of [calls, { role: "tool", tool_call_id: "c", content: text }])
    appended(id, { type: "message", message, at });
  const episode = { summary: "Looked at ports.", task_type: "x", outcome: "success" };
  const fact = { subject: "mailer", attribute: "port", value: "8417", text, quote: text, position: 3, by: "tool" };
  answer = () => ({ episode, facts: [fact] });
  const stateOf = async (): Promise<unknown> =>
    (await (await loop()).store.items()).find(({ kind }) => kind === "fact")?.state;
  const states: unknown[] = [];
  for (const days of [0, 20, 11]) {
    await clock.advance(days * 24 * HOUR);
    await runAll();
    states.push(await stateOf());
  }
  expect(states).toEqual(["proposed", "proposed", "closed"]);
  const { store } = await loop();
  await store.act(factId("f", project, text), "undo");
  await runAll();
  expect(await stateOf()).toBe("proposed");
});

test("an item is left out of a tenth of its sessions, and its receipt compares them with the others", () => {
  const text = "Never push to main.";
  const id = factId("p", "user", text);
  const fact = { id, text, scope: "user", source: "user", isPinned: false, from: 0, until: undefined } as Fact;
  const ids = Array.from({ length: 1_000 }, (_, at) => `s-${at}`);
  const first = Array.from({ length: 10 }, (_, at) => ({ session: `f-${at}`, at: at + 1, cwd: "/p" }));
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
  expect(harms(fact, sessions)).toBe(false);
  const worse = sessions.map((one) => ({ ...one, corrections: one.used.includes(id) ? 1 : 0 }));
  expect(harms(fact, worse)).toBe(true);
  expect(harms(fact, worse.slice(0, 16))).toBe(false);
  // Once five sessions did without it, few others do.
  const enough = sessions.map(({ session, at, cwd }) => ({ session, at, cwd }));
  expect(ids.filter((session) => isLeftOut(session, fact, enough)).length).toBeLessThan(30);
});

test("a new item is in the prompt of every session, until ten sessions of its project had it", async () => {
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
