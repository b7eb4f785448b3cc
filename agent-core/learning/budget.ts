/** Daily budget of learning: tokens and US dollars that background work may cost. One for all processes of a home. */
import { join } from "node:path";
import * as z from "zod";
import { learningFolder } from "../config/home.ts";
import { readJsonFile, writeJsonFile } from "../config/home-file.ts";
import type { Clock } from "../platform/clock.ts";
import { withLock } from "../platform/locks/with-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";

const spentSchema = z.object({
  /** Local date, `2026-11-23`. */
  day: z.string(),
  tokens: z.number(),
  /** US dollars of the calls whose price is known. */
  usd: z.number(),
});
export type Spent = z.infer<typeof spentSchema>;

export type BudgetLimits = { readonly tokens: number; readonly usd: number };

export class DailyBudget {
  readonly limits: BudgetLimits;
  readonly #path: string;
  readonly #clock: Pick<Clock, "now">;

  constructor(home: string, limits: BudgetLimits, clock: Pick<Clock, "now">) {
    this.limits = limits;
    this.#path = join(learningFolder(home), "budget.json");
    this.#clock = clock;
  }

  /** Spent today. A damaged file counts as nothing spent. */
  async spent(): Promise<Spent> {
    const day = localDate(this.#clock.now());
    const stored = spentSchema.safeParse(await readJsonFile(this.#path)).data;
    return stored?.day === day ? stored : { day, tokens: 0, usd: 0 };
  }

  /** True when nothing more may be spent today. */
  async isExhausted(): Promise<boolean> {
    const { tokens, usd } = await this.spent();
    return tokens >= this.limits.tokens || usd >= this.limits.usd;
  }

  /** Adds the cost of one model call. `usd`: undefined for an unknown price. */
  async spend(tokens: number, usd = 0): Promise<void> {
    makeFolder(join(this.#path, ".."), 0o700);
    await withLock(`${this.#path}.lock`, async () => {
      const before = await this.spent();
      await writeJsonFile(this.#path, { day: before.day, tokens: before.tokens + tokens, usd: before.usd + usd });
    });
  }
}

/** Date of the machine's time zone, `2026-11-23`. */
export function localDate(at: number): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
