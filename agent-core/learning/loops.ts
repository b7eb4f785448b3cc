/** The loops that learn in the background. Each loads its code when it is needed first. */
import { counted } from "../platform/counted.ts";
import { type LearntAction, type LearntItem, LOOPS, type LoopName } from "../protocol/learning.ts";
import {
  type LearningSettings,
  type LearntOutcome,
  type LearntStore,
  type Loop,
  type LoopPorts,
  unknownItem,
} from "./loop.ts";

const makers: Readonly<Record<LoopName, (ports: LoopPorts) => Promise<Loop>>> = {
  consolidation: async (ports) => (await import("./consolidation/consolidation.ts")).consolidation(ports),
  distillation: async (ports) => (await import("./distillation/distillation.ts")).distillation(ports),
  report: async (ports) => (await import("./report/report.ts")).report(ports),
};

/** The loops in the order in which they run. */
export function makeLoops(ports: LoopPorts): Promise<readonly Loop[]> {
  return Promise.all(LOOPS.map((name) => makers[name](ports)));
}

/** True when the loop may work. Skills are distilled from the episodes that consolidation writes. */
export function isOn(loop: LoopName, settings: LearningSettings): boolean {
  return settings.enabled && settings[loop] && (loop !== "distillation" || settings.consolidation);
}

/** Items of all stores, newest first. */
export async function allLearnt(stores: readonly LearntStore[]): Promise<readonly LearntItem[]> {
  const lists = await Promise.all(stores.map((store) => store.items()));
  return lists.flat().toSorted((one, other) => other.at - one.at);
}

/** Id of all facts and preferences that wait for the user. One that would replace another waits for an answer of its own. */
const WAITING = "waiting";

/** Runs an action of the user on an item, whichever store it is in. */
export async function actOn(stores: readonly LearntStore[], id: string, action: LearntAction): Promise<LearntOutcome> {
  return id === WAITING ? actOnWaiting(stores, action) : actOnItem(stores, id, action);
}

async function actOnWaiting(stores: readonly LearntStore[], action: LearntAction): Promise<LearntOutcome> {
  const waiting = (await allLearnt(stores)).filter(({ id, state, actions }) => {
    return state === "proposed" && /^[fp]-/.test(id) && actions.includes(action) && !actions.includes("both");
  });
  for (const { id } of waiting) await actOnItem(stores, id, action);
  const done = action === "forget" ? "Forgotten" : "Kept";
  return {
    ok: true,
    message: waiting.length === 0 ? "Nothing waits for you." : `${done}: ${counted(waiting.length, "item")}.`,
  };
}

async function actOnItem(stores: readonly LearntStore[], id: string, action: LearntAction): Promise<LearntOutcome> {
  const forgetsFact = action === "forget" && /^[fp]-/.test(id);
  for (const store of stores) {
    const item = forgetsFact ? (await store.items()).find((each) => each.id === id) : undefined;
    const outcome = await store.act(id, action);
    if (outcome === undefined) continue;
    const [, session] = /^e-(.+)$/.exec(id) ?? [];
    if (action === "forget" && outcome.ok) {
      await Promise.all(
        stores.map((each) => (session === undefined ? item && each.forgetFact?.(item) : each.forgetSession?.(session))),
      );
    }
    return outcome;
  }
  return { ok: false, message: unknownItem(id) };
}
