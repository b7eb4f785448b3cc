/** How full the context window is: what the provider counted last, and an estimate of what was added since. */
import type { Usage } from "../providers/wire/wire.ts";

/** Between an estimate and what a provider counts; beyond it one of the two is wrong. */
const RATIO_LIMITS = { least: 0.5, most: 4 } as const;

export class TokenMeter {
  /** Tokens that the provider counts for one that we estimate. */
  #ratio = 1;
  /** What the provider counted, and our estimate of the same. */
  #anchor: { readonly counted: number; readonly estimated: number } | undefined;

  /** `estimated`: of the request and its answer, all that the usage counts. */
  measured({ inputTokens, outputTokens }: Usage, estimated: number): void {
    const counted = inputTokens + outputTokens;
    if (!(counted > 0) || estimated === 0) return;
    this.#ratio = Math.min(RATIO_LIMITS.most, Math.max(RATIO_LIMITS.least, counted / estimated));
    this.#anchor = { counted: estimated * this.#ratio, estimated };
  }

  /** The window was changed under what was counted, by a compression or a rewind: only the ratio still holds. */
  forget(): void {
    this.#anchor = undefined;
  }

  /** The provider has refused a request that it should have taken: what it counted was too little. */
  distrust(): void {
    this.#anchor = undefined;
    this.#ratio = Math.max(this.#ratio, 1);
  }

  /** What we would estimate for so many tokens of the provider's. */
  estimated(tokens: number): number {
    return tokens / this.#ratio;
  }

  /** By the ratio alone: for two states of a conversation that are to be compared. */
  scaled(estimated: number): number {
    return Math.round(estimated * this.#ratio);
  }

  /** Tokens of what we estimate at `estimated`. */
  tokens(estimated: number): number {
    const anchor = this.#anchor;
    if (anchor === undefined || estimated < anchor.estimated) return Math.round(estimated * this.#ratio);
    return Math.round(anchor.counted + (estimated - anchor.estimated) * this.#ratio);
  }
}
