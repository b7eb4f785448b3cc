import { existsSync, readdirSync, writeFileSync } from "node:fs";
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

test("the report counts known outcomes exactly, each with n and the baseline", async () => {
  for (let number = 0; number < 6; number += 1) at.add({ daysAgo: number, calls: { read_file: [2, 0] } });
  const shorter = { type: "message", message: { role: "user", content: "Shorter, please" } };
  const entries = [{ type: "verdict", path: "/p/letter.md", outcome: "undone", lines: 3 }, shorter];
  at.add({ daysAgo: 1, prompts: ["Write a letter"], calls: { terminal: [4, 1] }, entries });
  at.add({ daysAgo: 2, stopReason: "error" });
  at.add({ daysAgo: 2, origin: "delegation", calls: { read_file: [50, 50] }, stopReason: "error" });
  at.add({ daysAgo: 2, origin: "cron" });
  at.add({ daysAgo: 9, stopReason: "error" });
  const made = await run();
  expect(made).toMatchObject({ date: "2026-11-23", sessions: 9, regressions: [] });
  expect(made.totals).toEqual({ tokens: 9_000, usd: 0, learningTokens: 0, learningUsd: 0 });
  expect(rate(made, "task_success_rate")).toMatchObject({ value: 7 / 9, n: 9, baseline: 0 });
  expect(rate(made, "avg_feedback_score")).toMatchObject({ value: 0, n: 2 });
  expect(rate(made, "tool_error_rate")).toMatchObject({ value: 1 / 16, n: 16 });
  expect(rate(made, "tool_error_rate", "terminal")).toMatchObject({ value: 0.25, n: 4 });
  expect(rate(made, "corrections_per_task")).toMatchObject({ value: 1 / 9, n: 9 });
  expect(rate(made, "escalation_rate")).toMatchObject({ value: 1 / 9 });
  expect(rate(made, "first_token_seconds")).toMatchObject({ value: 0.5, n: 9 });
  expect(rate(made, "tokens_per_task", "local:m")).toMatchObject({ value: 1_000, n: 9 });
});

test("the report replaces an earlier one of the day, and says nothing without sessions", async () => {
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
  expect(readdirSync(join(at.home, "learning", "reports"))).toEqual(["2026-11-24.json", "2026-11-25.json"]);
  expect(await lastRun()).toMatchObject({ result: "2 sessions: 0 regressions." });
});

test("the text leaves out parts of a figure, and dollars of models without a known price", () => {
  const rate = (name: string, of?: string, n = 5): Rate => ({ name, ...(of && { of }), value: 0, n });
  const text = reportText({
    date: "2026-11-25",
    period: { from: 0, to: 1 },
    sessions: 5,
    regressions: [],
    rates: [rate("retry_rate"), rate("retry_rate", "local:m"), rate("retry_rate", "local:n", 2), rate("usd_per_task")],
    totals: { tokens: 1_200, usd: 0, learningTokens: 0, learningUsd: 0 },
  });
  expect(text.match(/^- .*/gm)).toEqual(["- retry rate: 0.0% (5 cases, too few to tell)"]);
  expect(text).toContain("Health report of 25 November 2026**: 5 sessions in seven days");
  expect(text).toContain("Nothing is clearly worse than before.");
  expect(text).toContain("Cost: 1,200 tokens, price unknown. Learning itself: 0 tokens, $0.00.");
});

test("the report names a tool that fails at 25% within a day, with its newest sessions", async () => {
  for (let day = 2; day < 30; day += 1) at.add({ daysAgo: day, calls: { web_extract: [4, 0] } });
  const failing = [4, 3, 2].map(() => at.add({ daysAgo: 0, calls: { web_extract: [4, 1] } }));
  const made = await run();
  expect(made.regressions).toEqual([
    { rate: "tool_error_rate", of: "web_extract", before: 0, now: 0.25, n: 12, sessions: failing.toReversed() },
  ]);
  expect(at.notices).toEqual(["Health report: tool error rate of web_extract: 0.0% → 25.0%."]);
});

test("the report compares the week with the weeks before, without the days that were flagged", async () => {
  for (let day = 7; day < 30; day += 1) {
    for (let number = 0; number < 2; number += 1)
      at.add({ daysAgo: day, stopReason: day === 20 ? "error" : "end_turn" });
  }
  for (let number = 0; number < 21; number += 1) {
    at.add({ daysAgo: number % 7, stopReason: number % 2 === 0 ? "error" : "end_turn" });
  }
  const flagged = { rate: "retry_rate", before: 0, now: 1, n: 9, sessions: [] };
  const bad = { ...(await run()), date: "2026-11-03", regressions: [flagged] };
  writeFileSync(join(at.home, "learning", "reports", "2026-11-03.json"), JSON.stringify(bad));
  const made = await run();
  const worse = made.regressions.map(({ rate: name, of }) => [name, of]);
  expect(worse).toContainEqual(["task_success_rate", undefined]);
  expect(worse).toContainEqual(["escalation_rate", "local:m"]);
  expect(made.regressions[0]?.sessions).toHaveLength(10);
  expect(rate(made, "task_success_rate")).toMatchObject({ baseline: 1 });
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

test("a kill at any write of the report leaves one whole report, with its regressions", async () => {
  let kills = 0;
  for (const moment of MOMENTS) {
    for (let diesAt = 1, died = true; died; diesAt += 1) {
      await at.index.close();
      at = new ReportHome();
      at.add({ daysAgo: 0, calls: { web_extract: [12, 4] } });
      died = await killed(diesAt, moment);
      const reports = await readReports(at.home, 9);
      expect(
        reports.map(({ regressions }) => regressions.map(({ of }) => of)),
        `killed ${moment} write ${diesAt}`,
      ).toEqual([["web_extract"]]);
      kills += Number(died);
    }
  }
  expect(kills).toBe(MOMENTS.length);
});
