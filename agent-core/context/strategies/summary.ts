import type { Strategy } from "./strategy.ts";

/** The whole middle becomes one summary: the next compression is far away then. */
export const summary: Strategy = { name: "summary", summarizes: true, choose: (units) => units };
