// The ledger of what was learnt, and the daily budget.
import { appendFileSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { DailyBudget } from "../../../agent-core/learning/daily-budget.ts";
import { type LearningChange, LearningLedger } from "../../../agent-core/learning/learning-ledger.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-learning-"));
});

const change = (target: string): LearningChange => ({
  loop: "consolidation",
  actor: "loop",
  op: "add",
  target,
  before: null,
  after: `text of ${target}`,
  evidence: ["20261101_120000_aaaaaaaa:3"],
  reason: "The user said so.",
});

test("the ledger keeps every change of several writers, and survives a line that was cut off", async () => {
  const ledgers = [1, 2, 3].map(() => new LearningLedger(home, { now: () => 5 }));
  await Promise.all(ledgers.map((ledger, at) => ledger.append([change(`f${at}`), change(`g${at}`)])));
  appendFileSync(join(home, "learning", "ledger.jsonl"), '{"id":"cut');
  await ledgers[0]?.append([change("last")]);
  const records = (await ledgers[1]?.read()) ?? [];
  expect(records.map(({ target }) => target).toSorted()).toEqual(["f0", "f1", "f2", "g0", "g1", "g2", "last"]);
});

test("a forgotten item leaves no text behind", async () => {
  const ledger = new LearningLedger(home, { now: () => 5 });
  await ledger.append([change("secret"), change("other")]);
  await ledger.forget("secret");
  expect(readFileSync(join(home, "learning", "ledger.jsonl"), "utf8")).not.toContain("text of secret");
  expect((await ledger.read()).map(({ target }) => target)).toEqual(["secret", "other"]);
});

test("the budget of a day is shared, and begins anew on the next one", async () => {
  let now = Date.parse("2026-11-23T10:00:00");
  const budget = (): DailyBudget => new DailyBudget(home, { tokens: 100, usd: 1 }, { now: () => now });
  await Promise.all([budget().spend(60, 0.25), budget().spend(30)]);
  expect(await budget().spent()).toEqual({ day: "2026-11-23", tokens: 90, usd: 0.25 });
  expect(await budget().isExhausted()).toBe(false);
  await budget().spend(10);
  expect(await budget().isExhausted()).toBe(true);
  now += 24 * 60 * 60 * 1_000;
  expect(await budget().isExhausted()).toBe(false);
});
