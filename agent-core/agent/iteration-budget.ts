/** Limits the iterations of a turn, and warns the model when few are left. */

/** Shares of the budget at which the model is warned. */
const FIRST_WARNING = 0.7;
const LAST_WARNING = 0.9;

/** Last request of a turn whose budget is spent, without tools. */
export const SUMMARY_REQUEST =
  "The step limit of this turn is reached: no more tools can be called. " +
  "Sum up for the user what was done, what was found and what is left to do.";

/** Iterations of one turn. A child's may also count against its parent's (`delegation.share_budget`). */
export class IterationBudget {
  readonly limit: number;
  readonly #parent: IterationBudget | undefined;
  #used = 0;

  constructor(limit: number, parent?: IterationBudget) {
    this.limit = limit;
    this.#parent = parent;
  }

  get used(): number {
    return this.#used;
  }

  /** True when no iteration is left, here or in the parent's budget. */
  get isSpent(): boolean {
    return this.#used >= this.limit || (this.#parent?.isSpent ?? false);
  }

  take(): void {
    this.#used += 1;
    this.#parent?.take();
  }
}

/** Note for the model's next request, once at each share; otherwise undefined. `used` counts from 1. */
export function budgetWarning(used: number, limit: number): string | undefined {
  const left = limit - used;
  if (used === Math.ceil(limit * LAST_WARNING))
    return `[Budget: ${left} of ${limit} steps left. Finish now and answer.]`;
  if (used === Math.ceil(limit * FIRST_WARNING)) {
    return `[Budget: ${left} of ${limit} steps left. Start to wrap up the work.]`;
  }
  return undefined;
}
