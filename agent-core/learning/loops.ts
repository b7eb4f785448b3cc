/** The loops that learn in the background. Each loads its code when it is needed first. */
import type { Config } from "../config/sections.ts";
import type { Clock } from "../platform/clock.ts";
import { type LearntAction, type LearntItem, LOOPS, type LoopName } from "../protocol/learning.ts";
import type { SessionIndex } from "../sessions/index/session-index.ts";
import type { LearningModel } from "./learning-model.ts";
import type { LearningLedger } from "./ledger.ts";
import type { BackgroundWork } from "./runner.ts";

export type LearningSettings = Config["learning"];

/** Outcome of an action, in one line for the user. */
export type LearntOutcome = { readonly ok: boolean; readonly message: string };

/** Items of one loop. Each is stored as text that people can edit. */
export type LearntStore = {
  /** Newest first. Rejects when reading fails. */
  items(): Promise<readonly LearntItem[]>;
  /** Undefined when the item is not of this store. Rejects when writing fails. */
  act(id: string, action: LearntAction): Promise<LearntOutcome | undefined>;
};

/** Surroundings of a loop. */
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
  /** One line for the log. */
  readonly log: (line: string) => void;
};

export type Loop = {
  readonly work: BackgroundWork;
  readonly store: LearntStore;
  /** Result of the last run; undefined before the first one. */
  lastRun(): Promise<{ readonly at: number; readonly result: string } | undefined>;
};

type LoopMaker = (ports: LoopPorts) => Promise<Loop>;

const makers: { readonly [Name in LoopName]?: LoopMaker } = {};

/** The loops in the order in which they run. */
export async function makeLoops(ports: LoopPorts): Promise<readonly Loop[]> {
  const made = LOOPS.map((name) => makers[name]?.(ports));
  return (await Promise.all(made)).filter((loop) => loop !== undefined);
}

/** True when the loop may work. */
export function isOn(loop: LoopName, settings: LearningSettings): boolean {
  return settings.enabled && settings[loop];
}

/** Items of all stores, newest first. */
export async function allLearnt(stores: readonly LearntStore[]): Promise<readonly LearntItem[]> {
  const lists = await Promise.all(stores.map((store) => store.items()));
  return lists.flat().toSorted((one, other) => other.at - one.at);
}

/** Runs an action of the user on an item, whichever store it is in. */
export async function actOn(stores: readonly LearntStore[], id: string, action: LearntAction): Promise<LearntOutcome> {
  for (const store of stores) {
    const outcome = await store.act(id, action);
    if (outcome !== undefined) return outcome;
  }
  return { ok: false, message: "There is no such item any more." };
}
