import { type Strategy, untilGone } from "./strategy.ts";

/** The oldest go first, without asking a model. */
export const recency: Strategy = { name: "recency", summarizes: false, choose: untilGone };
