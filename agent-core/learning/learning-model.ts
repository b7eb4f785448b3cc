/** The model as the loops use it: single questions without tools, within the daily budget. */
import type { AuxiliaryTask } from "../config/sections.ts";
import type { Message } from "../messages/message.ts";

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
