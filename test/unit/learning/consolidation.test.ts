// Consolidation of ended sessions: once each, whatever is killed, and again when a session grew.
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { learningFolder, sessionsFolder } from "../../../agent-core/config/home.ts";
import { consolidation } from "../../../agent-core/learning/consolidation/consolidation.ts";
import { LearningLedger } from "../../../agent-core/learning/learning-ledger.ts";
import type { LearningAnswer, Loop, LoopPorts } from "../../../agent-core/learning/loop.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { live, MOMENTS, power } from "./support/dying-writes.ts";

const NOW = Date.UTC(2026, 10, 20, 12);
const HOUR = 3_600_000;

vi.mock("../../../agent-core/config/home-file.ts", async (load) =>
  (await import("./support/dying-writes.ts")).mortal(await load()),
);

let home: string;
let log: string[];
let clock: ManualClock;
let open: Set<string>;
let answers: ((transcript: string) => LearningAnswer)[];
let notices: (string | undefined)[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-consolidation-"));
  log = [];
  notices = [];
  clock = new ManualClock(NOW);
  open = new Set();
  answers = [];
  live();
});

const idOf = (number: number): string => `202611${String(10 + number)}_100000_${String(number).padStart(8, "0")}`;

/** A session of these messages: the user's and the agent's in turn. */
function session(number: number, texts: readonly string[], more: object = {}): string {
  const id = idOf(number);
  let at = Date.UTC(2026, 10, 10 + number, 10);
  const entries = [
    { type: "session", version: 1, id, cwd: "/project/alpha", at, ...more },
    ...texts.map((content, position) => {
      const role = position % 2 === 0 ? "user" : "assistant";
      at += 1_000;
      return { type: "message", position, message: { role, content }, at };
    }),
    { type: "turn-end", stopReason: "end_turn", at: at + 1_000 },
  ];
  mkdirSync(sessionsFolder(home), { recursive: true });
  writeFileSync(
    join(sessionsFolder(home), `${id}.jsonl`),
    entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""),
  );
  return id;
}

async function loop(of: Partial<LoopPorts> = {}): Promise<Loop> {
  return consolidation({
    home,
    clock,
    ledger: new LearningLedger(home, clock),
    model: {
      isAvailable: () => Promise.resolve(answers.length > 0),
      ask: (_, messages) => {
        const next = answers.length > 1 ? answers.shift() : answers[0];
        return Promise.resolve(next?.(String(messages[1]?.content)) ?? { ok: false, problem: "no answer" });
      },
    },
    index: undefined as never,
    settings: () => ({ session_idle_minutes: 10 }) as LoopPorts["settings"] extends () => infer S ? S : never,
    isOpen: (id) => open.has(id),
    notify: (message) => notices.push(message),
    log: (line) => log.push(line),
    ...of,
  });
}

async function runAll(of?: Partial<LoopPorts>): Promise<number> {
  const { work } = await loop(of);
  const { signal } = new AbortController();
  let pieces = 0;
  while (await work.doNext(signal)) pieces += 1;
  return pieces;
}

const factsIn = async (): Promise<readonly string[]> => {
  const items = await (await loop()).store.items();
  return items
    .filter(({ kind }) => kind !== "episode")
    .map(({ text, state, seen }) => `${state} ${seen}: ${text}`)
    .toSorted();
};

const answer = (value: object): LearningAnswer => ({
  ok: true,
  text: JSON.stringify({ episode: { summary: "Done.", task_type: "work", outcome: "success" }, ...value }),
});

test("without a model it keeps the episode and the rules that the user stated", async () => {
  session(1, ["Always end the report with `-- k4`.", "Ok."]);
  await runAll();
  expect(await factsIn()).toEqual(["active 1: Always end the report with `-- k4`."]);
  expect(notices).toEqual(["Learnt: Always end the report with `-- k4`."]);
  expect(readFileSync(join(learningFolder(home), "user-model.md"), "utf8")).toContain("## In /project/alpha");
  expect(readdirSync(join(learningFolder(home), "episodes", "2026", "11"))).toEqual([`${idOf(1)}.md`]);
  expect(await runAll()).toBe(0);
});

test("asks the model once, later, when it becomes available", async () => {
  session(1, ["The gate of the importer is `zq7`, use it.", "Ok."]);
  await runAll();
  expect(await factsIn()).toEqual([]);
  const about = { subject: "importer", kind: "service", scope: "project", position: 0 };
  answers = [
    () => answer({ facts: [{ ...about, text: "The gate is `zq7`.", quote: "The gate of the importer is `zq7`" }] }),
  ];
  expect(await runAll()).toBe(1);
  expect(await factsIn()).toEqual(["active 1: The gate is `zq7`."]);
  expect(await runAll()).toBe(0);
});

test("gives up a session after three answers that are nonsense, with a pause before each try", async () => {
  session(1, ["Hello there", "Hi."]);
  answers = [() => ({ ok: true, text: "Sure! Here you go." })];
  expect(await runAll()).toBe(2);
  expect(await runAll()).toBe(0);
  for (const _ of [1, 2]) {
    await clock.advance(HOUR);
    expect(await runAll()).toBe(1);
  }
  await clock.advance(24 * HOUR);
  expect(await runAll()).toBe(0);
  expect(log).toHaveLength(3);
});

test("waits for the end of an open session: its close, or ten minutes of rest", async () => {
  const id = session(8, ["Always run `make check` first.", "Ok."]);
  open.add(id);
  clock = new ManualClock(Date.UTC(2026, 10, 18, 10, 5));
  expect(await runAll()).toBe(0);
  await clock.advance(6 * 60_000);
  expect(await runAll()).toBe(1);
});

test("reads a session again when it grew, and counts nothing twice", async () => {
  const id = session(1, ["Always run `make check` first.", "Ok."]);
  await runAll();
  const more = { type: "message", position: 2, message: { role: "user", content: "Never push to main." }, at: NOW };
  appendFileSync(join(sessionsFolder(home), `${id}.jsonl`), `${JSON.stringify(more)}\n`);
  await runAll();
  expect(await factsIn()).toEqual(["active 1: Always run `make check` first.", "active 1: Never push to main."]);
});

test("leaves sub-agents, imports and the copies of a fork out", async () => {
  session(1, ["Always run `make check` first.", "Ok."], { origin: "delegation", parent: idOf(9) });
  session(2, ["Always run `make check` first.", "Ok."], { source: "import" });
  session(3, ["Always run `make check` first.", "Ok."], {
    origin: "user",
    parent: idOf(1),
    at: Date.UTC(2026, 10, 19),
  });
  await runAll();
  expect(await factsIn()).toEqual([]);
});

test("a rule that is repeated in other sessions counts up, and one of two projects holds everywhere", async () => {
  session(1, ["Always run `make check` first.", "Ok."]);
  session(2, ["always run `make check` first", "Ok."]);
  await runAll();
  expect(await factsIn()).toEqual(["active 2: Always run `make check` first."]);
  session(3, ["Always run `make check` first.", "Ok."], { cwd: "/project/beta" });
  await runAll();
  expect(await factsIn()).toEqual([
    "active 3: Always run `make check` first.",
    "closed 1: Always run `make check` first.",
    "closed 2: Always run `make check` first.",
  ]);
});

test("a changed rule closes the old one, also when the sessions are read in another order", async () => {
  session(2, ["No way", "Ok.", "no, always end the report with `-- m5`.", "Ok."]);
  await runAll();
  session(1, ["Always end the report with `-- k4`.", "Ok."]);
  await runAll();
  session(3, ["Always end the report with `-- n6`.", "Ok."]);
  await runAll();
  expect(await factsIn()).toEqual([
    "active 1: Always end the report with `-- n6`.",
    "closed 1: Always end the report with `-- m5`.",
  ]);
});

test("what a person wrote into the files stays, and is only proposed to change", async () => {
  session(1, ["Always end the report with `-- k4`.", "Ok."]);
  await runAll();
  const model = join(learningFolder(home), "user-model.md");
  writeFileSync(model, `${readFileSync(model, "utf8").replace("`-- k4`", "`-- mine`")}\n- Write in British English.\n`);
  session(2, ["Always end the report with `-- m5`.", "Ok."]);
  await runAll();
  expect(await factsIn()).toEqual([
    "active 1: Always end the report with `-- mine`.",
    "active 1: Write in British English.",
    "proposed 1: Always end the report with `-- m5`.",
  ]);
  const { store } = await loop();
  const proposal = (await store.items()).find(({ state }) => state === "proposed");
  expect(await store.act(proposal?.id ?? "", "accept")).toMatchObject({ ok: true });
  expect(await factsIn()).toContain("active 1: Always end the report with `-- m5`.");
  expect(await factsIn()).toContain("closed 1: Always end the report with `-- mine`.");
});

test("an undo removes what was learnt, and restores what it replaced", async () => {
  session(1, ["Always end the report with `-- k4`.", "Ok."]);
  session(2, ["Always end the report with `-- m5`.", "Ok."]);
  await runAll();
  const { store } = await loop();
  const active = (await store.items()).find(({ state, kind }) => state === "active" && kind === "preference");
  expect(active?.text).toContain("m5");
  await store.act(active?.id ?? "", "undo");
  expect(await factsIn()).toEqual(["active 1: Always end the report with `-- k4`."]);
});

/** All files of the learning folder but the watermark, the random ids of records and lines that a kill cut off. */
function stateOf(): Record<string, string> {
  const folder = learningFolder(home);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const texts = files
    .map((file) => join(file.parentPath, file.name))
    .filter((path) => !/consolidated|\.lock|\.tmp/.test(path));
  return Object.fromEntries(
    texts.map((path) => {
      const text = readFileSync(path, "utf8");
      const isLedger = path.endsWith("ledger.jsonl");
      const lines = text
        .replaceAll(/"id":"\w+"/g, "")
        .split("\n")
        .filter((line) => line.endsWith("}"))
        .toSorted()
        .join("\n");
      return [path.slice(folder.length), isLedger ? lines : text];
    }),
  );
}

const hostile = {
  subject: "alpha",
  kind: "tool",
  scope: "project",
  text: "The tests are failing.",
  quote: "tests are failing",
};

async function days(): Promise<void> {
  session(1, ["Always end the report with `-- k4`. The gate of alpha is `zq7`, and tests are failing", "Ok."]);
  session(2, ["Always end the report with `-- m5`.", "Ok."]);
  const gate = {
    subject: "alpha",
    kind: "project",
    scope: "project",
    text: "The gate of alpha is `zq7`.",
    quote: "The gate of alpha is `zq7`",
  };
  answers = [(transcript) => answer(transcript.includes("zq7") ? { facts: [gate, hostile] } : {})];
  await runAll();
}

test("a kill at any write loses nothing and doubles nothing", async () => {
  await days();
  const expected = stateOf();
  expect(Object.keys(expected).length).toBeGreaterThan(4);
  const { writes } = power;
  for (const moment of MOMENTS) {
    for (let diesAt = 1; diesAt <= writes; diesAt += 1) {
      home = mkdtempSync(join(tmpdir(), "hermes-consolidation-"));
      Object.assign(power, { writes: 0, diesAt, moment });
      await days().catch(() => undefined);
      live();
      await runAll();
      expect(stateOf(), `killed ${moment} write ${diesAt}`).toEqual(expected);
    }
  }
  expect(writes * MOMENTS.length).toBeGreaterThanOrEqual(50);
});

test("two processes at one home learn each rule once", async () => {
  for (const number of [1, 2, 3])
    session(number, [
      `Always run \`check-${number}\` in the ${["first", "second", "third"][number - 1]} folder.`,
      "Ok.",
    ]);
  await Promise.all([runAll(), runAll()]);
  expect((await factsIn()).map((line) => line.slice(0, 9))).toEqual(["active 1:", "active 1:", "active 1:"]);
  expect(existsSync(join(learningFolder(home), "user-model.md"))).toBe(true);
});

test("forgets with everything derived, and does not learn it again from the same session", async () => {
  const id = session(1, ["Always end the report with `-- k4`.", "Ok."]);
  await runAll();
  const { store } = await loop();
  const rule = (await store.items()).find(({ kind }) => kind === "preference");
  await store.act(rule?.id ?? "", "forget");
  const kept = Object.entries(stateOf()).filter(([, text]) => text.includes("-- k4"));
  expect(kept).toEqual([]);
  const more = { type: "message", position: 2, message: { role: "user", content: "Thanks" }, at: NOW };
  appendFileSync(join(sessionsFolder(home), `${id}.jsonl`), `${JSON.stringify(more)}\n`);
  await runAll();
  expect(await factsIn()).toEqual([]);
});

test.each([
  ["Use pnpm, not npm.", "From now on use yarn, not pnpm.", "Use yarn, not pnpm."],
  ["Always use `pnpm`.", "Use yarn instead of pnpm.", "Use yarn instead of pnpm."],
  ["From now on answer in German.", "From now on please answer in English.", "Answer in English."],
  ["Antworte ab jetzt immer auf Deutsch.", "From now on answer in English.", "Answer in English."],
  ["Always run the linter first.", "Actually never run the linter first.", "Never run the linter first."],
])("of %j and a later %j only the later one holds", async (first, second, kept) => {
  session(1, [first, "Ok."]);
  session(2, [second, "Ok."], { cwd: "/project/alpha" });
  await runAll();
  expect((await factsIn()).filter((line) => line.startsWith("active"))).toEqual([`active 1: ${kept}`]);
});

test("a fact that a newer one replaced is forgotten in the newer one's records and sessions, too", async () => {
  const summarise = (summary: string): void => {
    answers = [() => answer({ episode: { summary, task_type: "x", outcome: "success" } })];
  };
  session(1, ["Remember: the gate of alpha is `zq7`.", "Ok."]);
  summarise("Looked at the gate.");
  await runAll();
  session(2, ["Use it", "Ok.", "No, the gate of alpha is `zq8`.", "Ok."]);
  summarise("Moved from `zq7` to the gate `zq8`. Told Ann.");
  await runAll();
  const { store } = await loop();
  const old = (await store.items()).find(({ state }) => state === "closed");
  expect(old?.text).toBe("The gate of alpha is `zq7`.");
  await store.act(old?.id ?? "", "forget");
  const texts = Object.values(stateOf()).join("\n");
  expect(texts).not.toContain("zq7");
  expect(texts).toContain("The gate of alpha is `zq8`.");
});

test("a correction replaces a rule that it names in other words, and one that holds everywhere changes everywhere", async () => {
  session(1, ["Write it", "Ok.", "No, not like that: a mint note ends with the line `k4`.", "Ok."]);
  session(2, ["Write it", "Ok.", "I undid it. Every mint note has to end with `k4`.", "Ok."], { cwd: "/project/beta" });
  await runAll();
  session(3, ["Write it", "It ends with k4.", "Please remember how mint notes look: their last line is `m5`.", "Ok."]);
  await runAll();
  expect((await factsIn()).filter((line) => line.startsWith("active"))).toEqual([
    "active 1: How mint notes look: their last line is `m5`.",
  ]);
  session(4, ["We decided on the name `q9` for the queue of alpha."]);
  await runAll();
  expect(await factsIn()).toContain("active 1: We decided on the name `q9` for the queue of alpha.");
});

test("a correction in words for any thing, or beside an edit that was taken back, replaces the rule that was followed", async () => {
  session(1, ["Write it", "Ok.", "No, the target of a mint deployment is `k4` here.", "Ok."]);
  const request = "Write it";
  session(2, [request, "It goes to k4.", "Wrong target. The mint deployments of this project go to `m5`.", "Ok."]);
  await runAll();
  const active = async () => (await factsIn()).filter((line) => line.startsWith("active"));
  expect(await active()).toEqual(["active 1: The mint deployments of this project go to `m5`."]);
  const id = session(3, [request, "It goes to m5.", "From now on mint deployments run on `q9`.", "Ok."]);
  const path = join(sessionsFolder(home), `${id}.jsonl`);
  const lines = readFileSync(path, "utf8").split("\n");
  const { at } = JSON.parse(lines[3] ?? "");
  const verdict = { type: "verdict", callId: "c", path: "/project/alpha/deploy.json", outcome: "undone", lines: 1, at };
  writeFileSync(path, lines.toSpliced(4, 0, JSON.stringify(verdict)).join("\n"));
  await runAll();
  expect(await active()).toEqual(["active 1: Mint deployments run on `q9`."]);
});
