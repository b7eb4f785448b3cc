import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { report } from "../../../../agent-core/learning/report/report.ts";
import { readReports, reportText } from "../../../../agent-core/learning/stored-reports.ts";
import type { HealthReport, Rate } from "../../../../agent-core/protocol/learning.ts";
import { live, MOMENTS, power } from "../support/dying-writes.ts";
import { ReportHome } from "../support/report-home.ts";

vi.mock("../../../../agent-core/config/home-file.ts", async (load) =>
  (await import("../support/dying-writes.ts")).mortal(await load()),
);

const DAY_MS = 86_400_000;
let at: ReportHome;

beforeEach(() => {
  at = new ReportHome();
});

afterEach(() => at.index.close());

async function run(): Promise<HealthReport> {
  const { work } = await report(at.ports);
  expect(await work.doNext(new AbortController().signal)).toBe(false);
  const [made] = await readReports(at.home, 1);
  if (made === undefined) throw new Error("There is no report.");
  return made;
}

function rate({ rates }: HealthReport, name: string, of?: string): Rate | undefined {
  return rates.find((found) => found.name === name && found.of === of);
}

const overflow = { type: "compression", child: "c", strategy: "summary", dropped: [], summary: "s", shortened: [] };
const refused = { ...overflow, tokensBefore: 10, tokensAfter: 5, refused: true };

test("counts known outcomes exactly, each with n and its interval", async () => {
  for (let number = 0; number < 6; number += 1) at.add({ daysAgo: number, calls: { read_file: [2, 0] } });
  at.add({ daysAgo: 1, prompts: ["Write a letter", "No, shorter"], calls: { terminal: [4, 1] } });
  at.add({ daysAgo: 2, stopReason: "error" });
  at.add({ daysAgo: 2, origin: "delegation", calls: { read_file: [50, 50] }, stopReason: "error" });
  at.add({ daysAgo: 2, origin: "cron" });
  at.add({ daysAgo: 9, stopReason: "error" });
  const made = await run();
  expect(made).toMatchObject({ date: "2026-11-23", sessions: 9, regressions: [], recommendations: [] });
  expect(made.totals).toEqual({ tokens: 9_000, usd: 0, learningTokens: 0, learningUsd: 0 });
  expect(rate(made, "task_success_rate")).toMatchObject({ value: 7 / 9, n: 9, baseline: 0 });
  expect(rate(made, "task_success_rate")?.low).toBeCloseTo(0.4526, 3);
  expect(rate(made, "task_success_rate")?.high).toBeCloseTo(0.9368, 3);
  expect(rate(made, "task_success_rate", "writing")).toMatchObject({ value: 0, n: 1 });
  expect(rate(made, "avg_feedback_score")).toMatchObject({ value: 0, n: 2 });
  expect(rate(made, "tool_error_rate")).toMatchObject({ value: 1 / 16, n: 16 });
  expect(rate(made, "tool_error_rate", "terminal")).toMatchObject({ value: 0.25, n: 4 });
  expect(rate(made, "corrections_per_task")).toMatchObject({ value: 1 / 9, n: 9 });
  expect(rate(made, "escalation_rate")).toMatchObject({ value: 1 / 9 });
  expect(rate(made, "first_token_seconds")).toMatchObject({ value: 0.5, n: 9 });
  expect(rate(made, "tokens_per_task", "local:m")).toMatchObject({ value: 1_000, n: 9 });
});

test("is written as JSON and as text with definitions, replaces an earlier one of the day, and says nothing without sessions", async () => {
  const { work, lastRun } = await report(at.ports);
  await work.doNext(new AbortController().signal);
  expect(existsSync(join(at.home, "learning"))).toBe(false);
  await at.clock.advance(DAY_MS);
  at.add({ daysAgo: 0 });
  expect((await run()).date).toBe("2026-11-24");
  at.add({ daysAgo: 0 });
  expect(await run()).toMatchObject({ date: "2026-11-24", sessions: 2 });
  await at.clock.advance(DAY_MS);
  expect((await run()).sessions).toBe(2);
  const text = readFileSync(join(at.home, "learning", "reports", "2026-11-25.md"), "utf8");
  expect(text).toContain("Health report of 2026-11-25");
  expect(text).toContain(
    "| context overflow rate | Share of tasks in which the provider refused a request as too long. |",
  );
  expect(await lastRun()).toMatchObject({ result: "2 sessions: 0 regressions, 0 recommendations." });
});

test("the text leaves out parts that are the whole, and dollars of models without a known price", () => {
  const rate = (name: string, of?: string, n = 5): Rate => ({ name, ...(of && { of }), value: 0, n, low: 0, high: 0 });
  const text = reportText({
    date: "2026-11-25",
    period: { from: 0, to: 1 },
    sessions: 5,
    regressions: [],
    recommendations: [],
    rates: [rate("retry_rate"), rate("retry_rate", "code"), rate("retry_rate", "data", 2), rate("usd_per_task")],
    totals: { tokens: 1_200, usd: 0, learningTokens: 0, learningUsd: 0 },
  });
  expect(text.match(/^\| (?:retry|usd).*?(?= \|)/gm)).toEqual(["| retry rate", "| retry rate of data"]);
  expect(text).toContain("Cost: 1,200 tokens, price unknown. Learning itself: 0 tokens, $0.00.");
});

test("names a tool that fails at 25 % within a day, with its newest sessions", async () => {
  for (let day = 2; day < 30; day += 1) at.add({ daysAgo: day, calls: { web_extract: [4, 0] } });
  const failing = [4, 3, 2].map(() => at.add({ daysAgo: 0, calls: { web_extract: [4, 1] } }));
  const made = await run();
  expect(made.regressions).toEqual([
    { rate: "tool_error_rate", of: "web_extract", before: 0, now: 0.25, n: 12, sessions: failing.toReversed() },
  ]);
  expect(at.notices).toEqual(["Health report: tool error rate of web_extract 0 % → 25 %."]);
});

test("compares the week with the weeks before, without the days that were flagged", async () => {
  for (let day = 7; day < 30; day += 1) {
    for (let number = 0; number < 2; number += 1)
      at.add({ daysAgo: day, stopReason: day === 20 ? "error" : "end_turn" });
  }
  for (let number = 0; number < 21; number += 1) {
    at.add({ daysAgo: number % 7, stopReason: number % 2 === 0 ? "error" : "end_turn" });
  }
  const made = await run();
  const worse = made.regressions.map(({ rate: name, of }) => [name, of]);
  expect(worse).toContainEqual(["task_success_rate", undefined]);
  expect(worse).toContainEqual(["escalation_rate", "code"]);
  expect(made.regressions[0]?.sessions).toHaveLength(10);
  expect(JSON.parse(readFileSync(join(at.home, "learning", "baseline.json"), "utf8"))).toMatchObject({
    from: "2026-10-20",
    to: "2026-11-16",
    sessions: 46,
    flagged: ["2026-11-23"],
  });
});

function tuned(): string {
  const path = join(at.home, "learning", "tuned.yaml");
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

function overflowing(daysAgo: number, count: number): void {
  for (let number = 0; number < count; number += 1) {
    at.add({ daysAgo, prompts: ["Research and compare the papers"], entries: number < count / 2 ? [refused] : [] });
  }
}

test("recommends a lower limit for the type of task that overflows; the user applies it and takes it back", async () => {
  overflowing(1, 8);
  const made = await run();
  const id = "t-compression.hard_limit-research";
  expect(made.recommendations).toMatchObject([
    { id, key: "compression.hard_limit", scope: "research", from: 0.85, to: 0.75, risk: "low", state: "proposed" },
  ]);
  expect(made.recommendations[0]?.confidence).toBeGreaterThan(0.9);
  expect(tuned()).toBe("");
  const { store } = await report(at.ports);
  expect(await store.items()).toMatchObject([
    { id, kind: "setting", state: "proposed", actions: ["accept", "forget"] },
  ]);
  expect(await store.act(id, "accept")).toMatchObject({ ok: true });
  expect(tuned()).toContain("to: 0.75");
  expect(await store.items()).toMatchObject([{ id, state: "active", actions: ["undo"] }]);
  expect(await store.act(id, "undo")).toMatchObject({ ok: true });
  expect(await store.items()).toEqual([]);
  expect(await store.act("t-other", "undo")).toBeUndefined();
  await at.clock.advance(DAY_MS);
  expect((await run()).recommendations).toEqual([]);
});

test("applies a sure change of low risk with auto_tune, announces it, and keeps it when its rate improves", async () => {
  at.settings.auto_tune = true;
  overflowing(1, 8);
  expect((await run()).recommendations).toMatchObject([{ state: "applied" }]);
  expect(at.notices).toEqual(["Tuned compression.hard_limit for research tasks: 0.85 → 0.75."]);
  await at.clock.advance(4 * DAY_MS);
  for (let number = 0; number < 6; number += 1) at.add({ daysAgo: number % 3, prompts: ["Research and compare"] });
  expect((await run()).recommendations).toMatchObject([{ state: "kept" }]);
  expect(tuned()).toContain("state: kept");
});

test("takes a change back by itself when its rate does not improve, and does not make it again", async () => {
  at.settings.auto_tune = true;
  overflowing(1, 8);
  await run();
  await at.clock.advance(4 * DAY_MS);
  overflowing(1, 8);
  expect((await run()).recommendations).toMatchObject([{ state: "reverted" }]);
  expect(tuned()).not.toContain("0.75");
  expect(at.notices.at(-1)).toContain("Took back compression.hard_limit for research tasks");
  expect((await at.ports.ledger.read()).map(({ op }) => op)).toEqual(["apply", "revert"]);
  await at.clock.advance(DAY_MS);
  expect((await run()).recommendations).toEqual([]);
});

/** Lets the report of the day die at its write with this number, and runs it again. Resolves to true when it died. */
async function killed(diesAt: number, moment: (typeof MOMENTS)[number]): Promise<boolean> {
  Object.assign(power, { writes: 0, diesAt, moment });
  const { work } = await report(at.ports);
  const died = await work.doNext(new AbortController().signal).then(
    () => false,
    () => true,
  );
  live();
  await run();
  return died;
}

test("a kill at any write of the report applies, announces and takes back each change once", async () => {
  let kills = 0;
  for (const moment of MOMENTS) {
    for (let diesAt = 1, died = true; died; diesAt += 1) {
      const when = `killed ${moment} write ${diesAt}`;
      await at.index.close();
      at = new ReportHome();
      at.settings.auto_tune = true;
      overflowing(1, 8);
      const diedFirst = await killed(diesAt, moment);
      const applied = "Tuned compression.hard_limit for research tasks: 0.85 → 0.75.";
      // After the last write only the notification is left. It is lost then, rather than shown twice; the report has it.
      if (moment !== "after" || at.notices.length > 0) expect(at.notices, when).toEqual([applied]);
      await at.clock.advance(4 * DAY_MS);
      overflowing(1, 8);
      const diedThen = await killed(diesAt, moment);
      expect(tuned(), when).not.toContain("0.75");
      expect(
        (await at.ports.ledger.read()).map(({ op }) => op),
        when,
      ).toEqual(["apply", "revert"]);
      await at.clock.advance(DAY_MS);
      expect((await run()).recommendations, when).toEqual([]);
      died = diedFirst || diedThen;
      kills += Number(diedFirst) + Number(diedThen);
    }
  }
  expect(kills).toBeGreaterThanOrEqual(30);
});
