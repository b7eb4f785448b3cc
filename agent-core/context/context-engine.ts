/** Context engine: decides when a conversation is too long, and what to drop. A library user can pass another one. */
import { sectionDefault } from "../config/section-defaults.ts";
import type { CompressionPlan, CompressionRequest } from "./plan-compression.ts";

export type ContextState = {
  /** Tokens of the next request. */
  readonly used: number;
  /** Tokens that the model can see. */
  readonly window: number;
  /** True when a turn begins with this request, so that a pause interrupts nothing. */
  readonly isNewTurn: boolean;
};

export type ContextEngine = {
  /** Value of `context.engine` in config.yaml. */
  readonly name: string;
  shouldCompress(state: ContextState, signal: AbortSignal): boolean | Promise<boolean>;
  /** Tokens that a compression aims at in a window of this size. */
  target(window: number): number;
  /** Share of the window above which the model is asked to be brief. */
  readonly softLimit: number;
  /** Share above which tools with large output are withheld, once nothing more can be dropped. */
  readonly hardLimit: number;
  /** Plans a compression; undefined when nothing can be dropped. Never separates a call from its result. */
  plan(
    room: Omit<CompressionRequest, "strategy">,
    signal: AbortSignal,
  ): CompressionPlan | undefined | Promise<CompressionPlan | undefined>;
  /** True when a model sums up the dropped messages; otherwise a digest replaces them. */
  readonly summarizes: boolean;
};

/** Shares of the window. */
export type ContextLimits = {
  /** Above it, a turn begins with a compression. */
  readonly threshold: number;
  /** Above it, the model is asked to be brief. */
  readonly softLimit: number;
  /** Above it, any request begins with a compression. */
  readonly hardLimit: number;
  /** Aim of a compression. Default: well below the threshold. */
  readonly target?: number | undefined;
  /** Newest messages that a compression keeps. Default 20. */
  readonly protectedMessages?: number;
};

/** A compression must end well below the threshold, or the next turn begins with another one. */
const BELOW_THRESHOLD = 0.6;
/** Highest target that the user can choose, as a share of the threshold. */
export const MAX_TARGET_SHARE = 0.9;

function defaultLimits(): ContextLimits {
  const { threshold, softLimit, hardLimit } = sectionDefault("compression");
  return { threshold, softLimit, hardLimit };
}

/** The built-in engine. `strategyName` is summary, recency, importance or hybrid. */
export function defaultEngine(limits = defaultLimits(), strategyName = "summary"): ContextEngine {
  const { threshold, softLimit, hardLimit, protectedMessages } = limits;
  const target = Math.min(limits.target ?? threshold * BELOW_THRESHOLD, threshold * MAX_TARGET_SHARE);
  return {
    name: "default",
    softLimit,
    hardLimit,
    summarizes: strategyName !== "recency", // the others ask a model
    shouldCompress: ({ used, window, isNewTurn }) => used >= window * (isNewTurn ? threshold : hardLimit),
    target: (window) => Math.round(window * target),
    async plan(room) {
      const { planCompression } = await import("./plan-compression.ts");
      const { strategyOf } = await import("./strategies.ts");
      return planCompression({
        ...room,
        strategy: strategyOf(strategyName),
        ...(protectedMessages !== undefined && { protectedMessages }),
      });
    },
  };
}
