/** What decides when a conversation is too long and what it can do without. Another one may be given to an agent. */
import type { CompressionPlan, Room } from "./plan-compression.ts";

export type ContextState = {
  /** Tokens that the next request will have. */
  readonly used: number;
  /** Tokens that the model can see. */
  readonly window: number;
  /** A turn begins with this request: nothing is lost by a pause. */
  readonly isNewTurn: boolean;
};

export type ContextEngine = {
  /** As `context.engine` names it. */
  readonly name: string;
  shouldCompress(state: ContextState): boolean;
  /** Tokens that a compression aims at, for a window of this size. */
  target(window: number): number;
  /** Share of the window from which on the model is told to be brief. */
  readonly softLimit: number;
  /** Share from which on tools with large output are withheld, when nothing more can go. */
  readonly hardLimit: number;
  /** Works out what goes; undefined when nothing can. Never splits a call from its result. */
  plan(room: Pick<Room, "said" | "compression" | "target" | "enough">): CompressionPlan | undefined;
  /** A model sums up what goes; otherwise a list of what was done stands for it. */
  readonly summarizes: boolean;
};
