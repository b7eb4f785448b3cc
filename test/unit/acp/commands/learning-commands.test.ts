import { expect, test } from "vitest";
import type { CommandSession } from "../../../../agent-core/acp/commands/command.ts";
import { runCommand } from "../../../../agent-core/acp/commands/slash-commands.ts";
import type { HealthReport, LearningState, LearntItem } from "../../../../agent-core/protocol/learning.ts";

const item: LearntItem = {
  id: "p-1",
  loop: "consolidation",
  kind: "preference",
  text: "Answers are in British English.",
  scope: "user",
  reason: "You said so.",
  sessions: ["s1"],
  at: 0,
  seen: 3,
  used: 12,
  state: "active",
  pinned: false,
  actions: [],
};

const state: LearningState = {
  switches: { enabled: true, consolidation: true, distillation: false, report: true, use: true },
  loops: [{ loop: "consolidation", on: true, isRunning: false }],
  budget: { tokens: 1_200, maxTokens: 200_000, usd: 0.01, maxUsd: 0.5 },
  items: [item],
  folder: "/home/learning",
};

const done: unknown[] = [];

function session(given: Partial<LearningState>, reports: readonly HealthReport[] = []): CommandSession {
  const access: CommandSession["learning"] = {
    state: () => Promise.resolve({ ...state, ...given }),
    act: (id, action) => Promise.resolve({ ok: true, message: `${action} ${id}` }),
    setSwitch: (...args) => Promise.resolve(void done.push(args)),
    runNow: () => Promise.resolve(true),
    reports: () => Promise.resolve(reports),
  };
  return { learning: access, cwd: "/project", signal: new AbortController().signal } as CommandSession;
}

const answer = (argument: string, given: Partial<LearningState> = {}) =>
  runCommand(`/learning ${argument}`, session(given));

test("/learning shows the switches, the budget and the newest items", async () => {
  expect(await answer("")).toContain(
    "- Answers are in British English. *(preference, everywhere, since 1 January 1970, used in 12 sessions)* You said so. `p-1`",
  );
  expect(await answer("")).toContain("Today: 1,200 of 200,000 tokens, $0.01 of $0.50.");
  expect(await answer("british")).toContain("`p-1`");
  expect(await answer("french")).toContain("Nothing that was learnt contains “french”.");
  expect(await answer("", { items: [] })).toContain("Nothing has been learnt yet.");
});

test("/learning names the reason why nothing is learnt", async () => {
  expect(await answer("", { obstacle: "no-model" })).toContain("learning needs a language model");
  expect(await answer("run", { obstacle: "budget" })).toContain("the daily budget is spent");
});

test("/learning lists proposals first and summaries of sessions last, and finds all words in any order", async () => {
  const items: LearntItem[] = [
    { ...item, id: "e-1", kind: "episode", text: "Deployed the importer." },
    item,
    { ...item, id: "s-1", kind: "skill", state: "proposed", text: "Deploy the importer" },
  ];
  expect(String(await answer("", { items })).match(/`[a-z]-1`/g)).toEqual(["`s-1`", "`p-1`", "`e-1`"]);
  expect(String(await answer("importer deploy", { items })).match(/`[a-z]-1`/g)).toEqual(["`s-1`", "`e-1`"]);
});

test("/learning lists 20 items and counts the rest", async () => {
  const items = Array.from({ length: 1_000 }, (_, index) => ({ ...item, id: `p-${index}` }));
  const text = await answer("", { items });
  expect(String(text).match(/`p-\d+`$/gm)).toHaveLength(20);
  expect(text).toContain("… and 980 more");
});

test("/learning runs an action on an item", async () => {
  expect(await answer("forget p-1")).toBe("forget p-1");
  expect(await answer("pin p-1")).toBe("pin p-1");
  expect(await answer("undo")).toMatch(/^Type `\/learning`/);
});

test("/learning on and off change a switch of config.yaml", async () => {
  expect(await answer("off")).toBe("`learning.enabled` is off in config.yaml.");
  expect(await answer("on use")).toBe("`learning.use` is on in config.yaml.");
  expect(await answer("off sleep")).toContain("There is no switch `sleep`.");
  expect(done).toEqual([
    ["enabled", false],
    ["use", true],
  ]);
});

test("/learning run says when nothing was due", async () => {
  expect(await answer("run")).toBe("Everything that was due is done. Nothing new was learnt.");
});

test("an item cannot format the answer or break out of its line", async () => {
  const items = [{ ...item, text: "[click](command:x)\n# Title `code` <img src=x>" }];
  expect(await answer("", { items })).toContain(
    "\\[click\\](command:x) \\# Title \\`code\\` \\<img src=x\\> *(preference",
  );
});

test("/report names what got worse with a session and what to do, then the figures", async () => {
  const written: HealthReport = {
    date: "2026-11-23",
    period: { from: 0, to: 1 },
    sessions: 42,
    rates: [
      { name: "retry_rate", value: 0.1, n: 40, baseline: 0.05 },
      { name: "tool_error_rate", of: "terminal", value: 0.25, n: 40, baseline: 0.03 },
    ],
    totals: { tokens: 1_000_000, usd: 3.4, learningTokens: 30_000, learningUsd: 0.05 },
    regressions: [{ rate: "tool_error_rate", of: "terminal", before: 0.03, now: 0.25, n: 40, sessions: ["s9"] }],
  };
  const text = await runCommand("/report", session({}, [written]));
  expect(text).toContain("- retry rate: 10.0% (40 cases, usually 5.0%)");
  expect(text).toContain("- tool error rate of terminal: 3.0% → 25.0% in 40 cases. Share of tool calls that failed.");
  expect(await runCommand("/report", session({}))).toMatch(/^There is no health report yet/);
});
