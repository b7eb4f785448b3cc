/** A loop that learns in the background: its work, its items, and its surroundings. */
import type { AuxiliaryTask } from "../config/model-sections.ts";
import type { Config } from "../config/sections.ts";
import type { Message } from "../messages/message.ts";
import type { Clock } from "../platform/clock.ts";
import type { LearntAction, LearntItem } from "../protocol/learning.ts";
import type { SessionIndex } from "../sessions/index/session-index.ts";
import type { BackgroundWork } from "./background-runner.ts";
import type { LearningLedger } from "./learning-ledger.ts";

export type LearningSettings = Config["learning"] & {
  /** True when a learnt skill, and each change of one, waits for the user's consent (`skills.write_approval`). */
  readonly asksForSkills?: boolean;
};

/** Outcome of an action, in one line for the user. */
export type LearntOutcome = { readonly ok: boolean; readonly message: string };

export function unknownItem(id: string): string {
  return `There is no item ${id}. \`/learning\` lists them.`;
}

/** Items of one loop. Each is stored as text that people can edit. */
export type LearntStore = {
  /** Newest first. Rejects when reading fails. */
  items(): Promise<readonly LearntItem[]>;
  /** Undefined when the item is not of this store. Rejects when writing fails. */
  act(id: string, action: LearntAction): Promise<LearntOutcome | undefined>;
  /** Removes the items that come from a session whose episode the user had forgotten. Rejects when writing fails. */
  forgetSession?(sessionId: string): Promise<void>;
  /** Removes the items that hold the values of a forgotten fact or preference. Rejects when writing fails. */
  forgetFact?(fact: LearntItem): Promise<void>;
};

export type LoopPorts = {
  /** Hermes' home folder. */
  readonly home: string;
  readonly clock: Clock;
  readonly ledger: LearningLedger;
  readonly model: LearningModel;
  readonly index: SessionIndex;
  /** Read at each piece of work. */
  readonly settings: () => LearningSettings;
  /** True for a session that is open, whose journal may still grow. */
  readonly isOpen: (sessionId: string) => boolean;
  /** Shows what was learnt: one line, and the items' ids for an undo. */
  readonly notify: (message: string | undefined, items: readonly string[]) => void;
  readonly log: (line: string) => void;
};

export type Loop = {
  readonly work: BackgroundWork;
  readonly store: LearntStore;
  /** Result of the last run; undefined before the first one. */
  lastRun(): Promise<{ readonly at: number; readonly result: string } | undefined>;
};

export type LearningTask = Extract<AuxiliaryTask, "consolidation" | "distillation">;

export type LearningAnswer =
  | { readonly ok: true; readonly text: string }
  /** In one line. The work is due again later. */
  | { readonly ok: false; readonly problem: string };

export type LearningModel = {
  /** False without a model that can answer, such as with the offline interpreter, and when the budget is spent. */
  isAvailable(): Promise<boolean>;
  /** Asks once, with the retries of an auxiliary task. Rejects with the signal's reason. */
  ask(task: LearningTask, messages: readonly Message[], signal: AbortSignal): Promise<LearningAnswer>;
};
