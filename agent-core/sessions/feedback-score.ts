/** Score of a session from evidence that does not come from the model: a pure function of its journal. */
import type { JournalEntry } from "./entry.ts";
import { addEntry, noOutcome, noProgress, type Outcome } from "./session-outcomes.ts";

export type FeedbackScore = {
  /** Mean of the signals, from 0 (bad) to 1 (good); null when there are none. */
  readonly score: number | null;
  /** Count of signals behind the score. */
  readonly signals: number;
};

/**
 * Mean of the signals that exist: the share of reviewed lines that were kept; the last test or build after the last edit;
 * and 0 for each correction, early rewind, refused permission, and turn that ended in an error or at its limit.
 */
export function scoreOf(outcome: Outcome): FeedbackScore {
  const { reviewed, kept, check, corrections, takenBack, refused, failedTurns } = outcome;
  const shares = [...(reviewed === 0 ? [] : [kept / reviewed]), ...(check === null ? [] : [check])];
  const signals = shares.length + corrections + takenBack + refused + failedTurns;
  return { score: signals === 0 ? null : shares.reduce((sum, share) => sum + share, 0) / signals, signals };
}

export function feedbackScore(entries: readonly JournalEntry[]): FeedbackScore {
  const outcome = noOutcome();
  const progress = noProgress();
  for (const entry of entries) addEntry(outcome, progress, entry);
  return scoreOf(outcome);
}
