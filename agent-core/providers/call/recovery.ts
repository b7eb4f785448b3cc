/** What to do about a fault: one table for every provider. Pure; whoever calls the model carries it out. */
import type { Fault, FaultKind } from "../fault.ts";
import { backoffMs } from "./backoff.ts";

/** What a call has been through so far. */
export type Attempts = {
  /** Requests sent to the model in use. */
  readonly tries: number;
  /** Time spent waiting between requests of this call, in milliseconds. */
  readonly waitedMs: number;
  /** Remedies that were used on the model in use; each helps once. */
  readonly used: ReadonlySet<Remedy>;
};

/** What changes a request, or what it is sent with, so that it may succeed. */
export type Remedy = "refresh-key" | "drop-parameter" | "drop-reasoning" | "drop-images" | "shorten" | "nudge";

export type Recovery =
  | { readonly kind: "wait"; readonly delayMs: number }
  | { readonly kind: "remedy"; readonly remedy: Remedy }
  /** Nothing more can be done with this model. */
  | { readonly kind: "give-up" };

/** Requests to one model at most, for faults that pass; behaviour.md §API modes, Faults. */
export const MAX_TRIES = 3;
/** Sum of the waits of one call; longer pauses are the user's to choose. behaviour.md §API modes, Faults. */
export const MAX_WAIT_MS = 300_000;

const remedies: { readonly [Kind in FaultKind]?: Remedy } = {
  authentication: "refresh-key",
  "unsupported-parameter": "drop-parameter",
  "reasoning-rejected": "drop-reasoning",
  "image-rejected": "drop-images",
  "context-overflow": "shorten",
  empty: "nudge",
};

/** Faults that may be gone a moment later. */
const passing: ReadonlySet<FaultKind> = new Set([
  "rate-limit",
  "overloaded",
  "server",
  "network",
  "timeout",
  "cut-off",
  "malformed",
]);

/** `random` is in [0, 1). */
export function recoveryOf(fault: Fault, { tries, waitedMs, used }: Attempts, random: number): Recovery {
  const remedy = remedies[fault.kind];
  // A request may be refused for one parameter after the other; every other remedy either helps at once or not at all.
  if (remedy !== undefined && (remedy === "drop-parameter" || !used.has(remedy))) return { kind: "remedy", remedy };
  if (!passing.has(fault.kind) || tries >= MAX_TRIES) return { kind: "give-up" };
  const delayMs = backoffMs(tries, fault.retryAfterMs ?? 0, random);
  return waitedMs + delayMs > MAX_WAIT_MS ? { kind: "give-up" } : { kind: "wait", delayMs };
}
