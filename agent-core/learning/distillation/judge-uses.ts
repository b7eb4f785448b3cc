/** Judgement of a skill by its uses: sessions in which its text reached the model, against sessions of the same kind. */
import type { Episode } from "../episodes.ts";
import { wilson } from "../statistics.ts";

/** A session in which the skill reached the model. */
export type ScoredUse = {
  readonly sessionId: string;
  readonly version: string;
  /** Milliseconds since 1970: end of the session. */
  readonly at: number;
  readonly score: number;
};

/** Uses before the first judgement. */
const FIRST_USES = 3;
/** Uses after which the mean decides, however wide its interval is. */
const LAST_USES = 5;
/** Difference of the means that counts as none: one use of five. */
const TOLERANCE = 0.2;

/**
 * Score of a session. A session without any signal counts as good: the user objected to nothing. The baseline counts the
 * same way, so the comparison is fair.
 */
export function outcomeOf({ score, stopReasons }: Episode): number {
  if (score !== null) return score;
  return stopReasons.at(-1) === "error" ? 0 : 1;
}

/** Mean; null of nothing. */
export function meanOf(scores: readonly number[]): number | null {
  return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

/**
 * `better`: the lower bound reaches the baseline. `worse`: the upper bound stays below it. A skill whose interval holds the
 * baseline stays on trial; from the fifth use on its mean decides.
 */
export function judgeUses(uses: readonly Pick<ScoredUse, "score">[], baseline: number): "better" | "worse" | "open" {
  const scores = uses.map(({ score }) => score);
  const mean = meanOf(scores);
  if (mean === null || scores.length < FIRST_USES) return "open";
  const { low, high } = wilson(mean, scores.length);
  if (low >= baseline) return "better";
  if (high < baseline) return "worse";
  if (scores.length < LAST_USES) return "open";
  return mean >= baseline - TOLERANCE - Number.EPSILON ? "better" : "worse";
}
