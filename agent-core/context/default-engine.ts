/** The built-in engine: limits as shares of the window, and one of four strategies. */
import type { ContextEngine } from "./context-engine.ts";
import { planCompression } from "./plan-compression.ts";
import { strategyOf } from "./strategies/strategies.ts";

export type ContextLimits = {
  /** A turn does not begin above it. */
  readonly threshold: number;
  /** The model is told to be brief. */
  readonly softLimit: number;
  /** The next request is compressed, in the middle of a turn too. */
  readonly hardLimit: number;
  /** What a compression aims at. */
  readonly target: number;
};

/** behaviour.md §Context. */
export const DEFAULT_LIMITS: ContextLimits = { threshold: 0.5, softLimit: 0.7, hardLimit: 0.85, target: 0.5 };

/** A compression at the threshold must leave room below it, or the next turn begins with another. */
const BELOW_THRESHOLD = 0.6;

/** `strategy`: summary, recency, importance or hybrid; summary for any other name. */
export function defaultEngine(limits: ContextLimits = DEFAULT_LIMITS, strategyName = "summary"): ContextEngine {
  const strategy = strategyOf(strategyName);
  const { threshold, softLimit, hardLimit, target } = limits;
  return {
    name: "default",
    softLimit,
    hardLimit,
    summarizes: strategy.summarizes,
    shouldCompress: ({ used, window, isNewTurn }) => used >= window * (isNewTurn ? threshold : hardLimit),
    target: (window) => Math.round(window * Math.min(target, threshold * BELOW_THRESHOLD)),
    plan: (room) => planCompression({ ...room, strategy }),
  };
}
