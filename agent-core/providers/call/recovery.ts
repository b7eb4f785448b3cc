/** The recovery from each kind of fault: one table for all providers. Pure. */
import type { Fault, FaultKind } from "../fault.ts";

/** History of one call. */
export type Attempts = {
  /** Requests sent to the current model. */
  readonly tries: number;
  /** Total wait of this call, in milliseconds. */
  readonly waitedMs: number;
  /** Remedies already applied to the current model. Each can help only once. */
  readonly used: ReadonlySet<Remedy>;
};

/** A change of the request or of its key. */
export type Remedy = "refresh-key" | "drop-parameter" | "drop-reasoning" | "drop-images" | "shorten" | "nudge";

export type Recovery =
  | { readonly kind: "wait"; readonly delayMs: number }
  | { readonly kind: "remedy"; readonly remedy: Remedy }
  /** The current model cannot answer. */
  | { readonly kind: "give-up" };

/** Most requests to one model for temporary faults. */
export const MAX_TRIES = 3;
/** Longest total wait of one call. For longer pauses the user decides. */
export const MAX_WAIT_MS = 300_000;

const remedies: { readonly [Kind in FaultKind]?: Remedy } = {
  authentication: "refresh-key",
  "unsupported-parameter": "drop-parameter",
  "reasoning-rejected": "drop-reasoning",
  "image-rejected": "drop-images",
  "context-overflow": "shorten",
  empty: "nudge",
};

/** Temporary faults. */
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
  // A model can refuse several parameters, one per request. Every other remedy helps once or never.
  if (remedy !== undefined && (remedy === "drop-parameter" || !used.has(remedy))) return { kind: "remedy", remedy };
  if (!passing.has(fault.kind) || tries >= MAX_TRIES) return { kind: "give-up" };
  const delayMs = backoffMs(tries, fault.retryAfterMs ?? 0, random);
  return waitedMs + delayMs > MAX_WAIT_MS ? { kind: "give-up" } : { kind: "wait", delayMs };
}

/** Wait before the second request; it doubles with each. Short, because a person is waiting. */
const BASE_MS = 1_000;
const CAP_MS = 120_000;
/** Random share of the delay, so that many clients do not retry at the same moment. */
const JITTER = 0.5;

/**
 * Delay in milliseconds. `tries`: requests sent, from 1. `floorMs`: the provider's `Retry-After`. `random`: in [0, 1).
 */
export function backoffMs(tries: number, floorMs: number, random: number): number {
  const delay = Math.max(floorMs, Math.min(CAP_MS, BASE_MS * 2 ** (tries - 1)));
  return Math.round(delay * (1 + JITTER * random));
}
