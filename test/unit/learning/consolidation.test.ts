// Consolidation of ended sessions: once each, whatever is killed, and again when a session grew.
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { learningFolder, sessionsFolder } from "../../../agent-core/config/home.ts";
import { consolidation } from "../../../agent-core/learning/consolidation/consolidation.ts";
import { LearningLedger } from "../../../agent-core/learning/learning-ledger.ts";
import type { LearningAnswer, Loop, LoopPorts } from "../../../agent-core/learning/loop.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { live, MOMENTS, power } from "./support/dying-writes.ts";
import { stated } from "./support/stating-model.ts";

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
  answers = [(transcript) => answer({ user_signals: stated(transcript) })];
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
    settings: () =>
      ({ sessionIdleMinutes: 10, dailyTokens: 1_000 }) as LoopPorts["settings"] extends () => infer S ? S : never,
    isOpen: (id) => open.has(id),
    notify: (message) => message?.includes("asks your model") || notices.push(message),
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

/** The user's words about a known item, whose id the answer names; `known`: a part of its text. */
const about = (text: string, position: number, named: { supersedes?: string; repeats?: string } = {}) => {
  return (transcript: string): LearningAnswer => {
    if (!transcript.includes(text)) return answer({});
    const ids = Object.entries(named).map(([field, known]) => {
      const line = transcript.split("\n").find((each) => each.startsWith("- [") && each.includes(known)) ?? "";
      return [field, /\[(.+?)\]/.exec(line)?.[1]];
    });
    return answer({
      user_signals: [{ text, quote: text, position, scope: "project", explicit: true, ...Object.fromEntries(ids) }],
    });
  };
};

test("it keeps the episode, and asks whether to keep a rule that was said once", async () => {
  session(1, ["Always end the report with `-- k4`.", "Ok."]);
  await runAll();
  expect(await factsIn()).toEqual(["active 1: Always end the report with `-- k4`."]);
  expect(notices).toEqual(["Keep this for later? Always end the report with `-- k4`."]);
  expect(readdirSync(join(learningFolder(home), "episodes", "2026", "11"))).toEqual([`${idOf(1)}.md`]);
  expect(await runAll()).toBe(0);
});

test("consolidation asks the model once, later, when it becomes available", async () => {
  session(1, ["The gate of the importer is `zq7`, use it.", "Ok."]);
  answers = [];
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

test("consolidation gives up a session after three answers that are nonsense, with a pause before each try", async () => {
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

test("consolidation waits for the end of an open session: its close, or ten minutes of rest", async () => {
  const id = session(8, ["Always run `make check` first.", "Ok."]);
  open.add(id);
  clock = new ManualClock(Date.UTC(2026, 10, 18, 10, 5));
  expect(await runAll()).toBe(0);
  await clock.advance(6 * 60_000);
  expect(await runAll()).toBe(2);
});

test("consolidation reads a session again when it grew, and counts nothing twice", async () => {
  const id = session(1, ["Always run `make check` first.", "Ok."]);
  await runAll();
  const more = { type: "message", position: 2, message: { role: "user", content: "Never push to main." }, at: NOW };
  appendFileSync(join(sessionsFolder(home), `${id}.jsonl`), `${JSON.stringify(more)}\n`);
  await runAll();
  expect(await factsIn()).toEqual(["active 1: Always run `make check` first.", "active 1: Never push to main."]);
});

test("consolidation leaves sub-agents, imports and the copies of a fork out", async () => {
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

test("a rule that the model names as replaced is closed, and an undo brings back exactly what was there", async () => {
  session(1, ["Always begin commit messages with chg:", "Ok."]);
  await runAll();
  answers = [about("From now on start commit messages with upd:", 0, { supersedes: "chg:" })];
  session(2, ["From now on start commit messages with upd:", "Ok."]);
  await runAll();
  const both = [
    "active 1: Always begin commit messages with chg:",
    "active 1: From now on start commit messages with upd:",
  ];
  const [old = "", young = ""] = both;
  expect(await factsIn()).toEqual([young, old.replace("active", "closed")].toSorted());
  const { store } = await loop();
  const itemOf = async (word: string) => (await store.items()).find(({ text }) => text.includes(word))?.id ?? "";
  expect(await store.act(await itemOf("chg:"), "undo")).toMatchObject({ message: expect.stringMatching(/^Restored:/) });
  expect(await factsIn()).toEqual(both);
  expect(await store.act(await itemOf("upd:"), "undo")).toMatchObject({ message: expect.stringMatching(/^Removed:/) });
  expect(await factsIn()).toEqual([old]);
});

test("an undo of the newer rule restores the one that it replaced", async () => {
  session(1, ["Always end the report with `-- k4`.", "Ok."]);
  await runAll();
  session(2, ["Always end the report with `-- m5`.", "Ok."]);
  answers = [about("Always end the report with `-- m5`.", 0, { supersedes: "-- k4" })];
  await runAll();
  const { store } = await loop();
  const active = (await store.items()).find(({ state, kind }) => state === "active" && kind === "preference");
  expect(active?.text).toContain("m5");
  await store.act(active?.id ?? "", "undo");
  expect(await factsIn()).toEqual(["active 1: Always end the report with `-- k4`."]);
});

test("a name that no known item has, and one of an item that is newer, replace nothing", async () => {
  session(2, ["Always end the report with `-- m5`.", "Ok."]);
  await runAll();
  session(1, ["Always end the report with `-- k4`.", "Ok."]);
  answers = [about("Always end the report with `-- k4`.", 0, { supersedes: "-- m5" })];
  await runAll();
  session(3, ["Never push to main.", "Ok."]);
  answers = [
    () =>
      answer({
        user_signals: [
          { text: "Never push to main.", quote: "Never push to main.", explicit: true, supersedes: "report" },
        ],
      }),
  ];
  await runAll();
  expect(await factsIn()).toEqual([
    "active 1: Always end the report with `-- k4`.",
    "active 1: Always end the report with `-- m5`.",
    "active 1: Never push to main.",
  ]);
});

test.each([
  ["accept", ["active 1: Reports end with `-- m5`.", "closed 1: Always end the report with `-- mine`."]],
  ["both", ["active 1: Always end the report with `-- mine`.", "active 1: Reports end with `-- m5`."]],
] as const)("a line that a person wrote stays until the user answers: %s", async (action, expected) => {
  session(1, ["Always end the report with `-- k4`.", "Ok."]);
  await runAll();
  const model = join(learningFolder(home), "entities", "user.md");
  writeFileSync(model, readFileSync(model, "utf8").replace("`-- k4`", "`-- mine`"));
  session(2, ["Reports end with `-- m5`.", "Ok."]);
  answers = [about("Reports end with `-- m5`.", 0, { supersedes: "-- mine" })];
  await runAll();
  const mine = "active 1: Always end the report with `-- mine`.";
  expect(await factsIn()).toEqual([mine, "proposed 1: Reports end with `-- m5`."]);
  const { store } = await loop();
  const proposal = (await store.items()).find(({ state }) => state === "proposed");
  expect(await store.act(proposal?.id ?? "", action)).toMatchObject({ ok: true });
  expect((await factsIn()).filter((line) => !line.includes("Write in"))).toEqual(expected);
});

test("a rule in other words counts up when the model names it", async () => {
  session(1, ["Each row should show the name and the date.", "Ok."]);
  const said = "Each row should show the name and the date.";
  answers = [() => answer({ user_signals: [{ text: said, quote: said, position: 0 }] })];
  await runAll();
  expect(await factsIn()).toEqual(["proposed 1: Each row should show the name and the date."]);
  session(2, ["Name and date belong into all rows.", "Ok."]);
  answers = [about("Name and date belong into all rows.", 0, { repeats: "Each row" })];
  await runAll();
  expect(await factsIn()).toEqual(["active 2: Each row should show the name and the date."]);
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
  quote: "tests have failed",
};

async function days(): Promise<void> {
  session(1, ["Always end the report with `-- k4`. The gate of alpha is `zq7`, and tests are failing", "Ok."]);
  session(2, ["Always end the report with `-- m5`.", "Ok."]);
  session(3, ["Always begin the report with `++ n6`.", "Ok."]);
  const gate = {
    subject: "alpha",
    kind: "project",
    scope: "project",
    text: "The gate of alpha is `zq7`.",
    quote: "The gate of alpha is `zq7`",
  };
  answers = [
    (transcript) =>
      answer({
        user_signals: stated(transcript),
        ...(transcript.includes("k4`. The gate") && { facts: [gate, hostile] }),
      }),
  ];
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
});

test("consolidation forgets with everything derived, and does not learn it again from the same session", async () => {
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
  ["Never edit files under `vendor/`.", "Never edit files under `generated/`."],
  ["Always use C++ for the firmware.", "Always use C# for the firmware."],
  ["Ab jetzt nie in den Ordner alt schreiben.", "Ab jetzt nie in den Ordner neu schreiben."],
  ["不要修改 vendor 目录。", "不要修改 generated 目录。"],
  ["No edites los archivos de vendor.", "No edites los archivos de generated."],
  ["El módulo de pagos es de Marta.", "El módulo de cuentas es de Marta."],
  ["vendor フォルダのファイルは編集しないでください。", "generated フォルダのファイルは編集しないでください。"],
])("both %j and %j of the model stay", async (first, second) => {
  for (const [at, said] of [first, second].entries()) session(at + 1, [said, "Ok."]);
  answers = [first, second].map((said) => about(said, 0));
  await runAll();
  expect(await factsIn()).toEqual([`active 1: ${first}`, `active 1: ${second}`].toSorted());
});

test("a fact that a newer one replaced is forgotten in the newer one's records and sessions, too", async () => {
  const summarise = (summary: string, more: (transcript: string) => LearningAnswer = () => answer({})): void => {
    answers = [
      (transcript) => {
        const { text } = more(transcript) as { text: string };
        return answer({ ...JSON.parse(text), episode: { summary, task_type: "x", outcome: "success" } });
      },
    ];
  };
  session(1, ["Remember: the gate of alpha is `zq7`.", "Ok."]);
  summarise("Looked at the gate.", (transcript) => answer({ user_signals: stated(transcript) }));
  await runAll();
  session(2, ["Use it", "Ok.", "No, the gate of alpha is `zq8`.", "Ok."]);
  const changed = about("the gate of alpha is `zq8`", 2, { supersedes: "zq7" });
  summarise("Moved from `zq7` to the gate `zq8`. Told Ann.", changed);
  await runAll();
  const { store } = await loop();
  const old = (await store.items()).find(({ state }) => state === "closed");
  expect(old?.text).toBe("Remember: the gate of alpha is `zq7`.");
  await store.act(old?.id ?? "", "forget");
  const texts = Object.values(stateOf()).join("\n");
  expect(texts).not.toContain("zq7");
  expect(texts).toContain("the gate of alpha is `zq8`");
});

test("two values of one property stay, and the user is asked whether both hold", async () => {
  const rule = (folder: string): object => {
    const text = `Never edit files under ${folder}/.`;
    return { text, quote: text, position: 0, explicit: true, subject: "edits", attribute: "folder", value: folder };
  };
  for (const [at, folder] of ["vendor", "generated"].entries()) {
    session(at + 1, [`Never edit files under ${folder}/.`, "Ok."]);
    answers = [() => answer({ user_signals: [rule(folder)] })];
    await runAll();
  }
  expect(await factsIn()).toEqual([
    "active 1: Never edit files under generated/.",
    "active 1: Never edit files under vendor/.",
  ]);
  expect(notices.at(-1)).toBe("Do both hold? Never edit files under vendor/. · Never edit files under generated/.");
});
