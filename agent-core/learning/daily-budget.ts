/** Daily budget of learning: tokens and US dollars that background work may cost. One for all processes of a home. */
import { join } from "node:path";
import * as z from "zod";
import { learningFolder } from "../config/home.ts";
import { readJsonFile, writeJsonFile } from "../config/home-file.ts";
import { type Clock, localDate } from "../platform/clock.ts";
import { withLock } from "../platform/locks/file-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";

const spentSchema = z.object({
  /** Local date, `2026-11-23`. */
  day: z.string(),
  tokens: z.number(),
  /** US dollars of the calls whose price is known. */
  usd: z.number(),
});
export type Spent = z.infer<typeof spentSchema>;

/** Days before today that the file keeps: those that a health report compares. */
const KEPT_DAYS = 40;

const fileSchema = spentSchema.extend({
  /** Earlier days with spending, newest first. */
  earlier: z.array(spentSchema).catch([]).default([]),
});

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
    const [{ day, tokens, usd }] = await this.history();
    return { day, tokens, usd };
  }

  /** Today, then earlier days with spending, newest first. */
  async history(): Promise<readonly [Spent, ...Spent[]]> {
    const day = localDate(this.#clock.now());
    const stored = fileSchema.safeParse(await readJsonFile(this.#path)).data;
    if (stored === undefined) return [{ day, tokens: 0, usd: 0 }];
    const { earlier, ...last } = stored;
    if (last.day === day) return [last, ...earlier];
    // The clock may have been set back: today can be among the earlier days.
    const others = [last, ...earlier].filter((spent) => spent.day !== day);
    return [earlier.find((spent) => spent.day === day) ?? { day, tokens: 0, usd: 0 }, ...others];
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
      const [before, ...earlier] = await this.history();
      const today = { day: before.day, tokens: before.tokens + tokens, usd: before.usd + usd };
      await writeJsonFile(this.#path, { ...today, earlier: earlier.slice(0, KEPT_DAYS) });
    });
  }
}
