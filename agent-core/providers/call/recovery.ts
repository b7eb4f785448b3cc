/** The recovery from each kind of fault: one table for all providers. Pure. */
import type { Fault, FaultKind } from "../fault.ts";

/** History of one call since its last progress: since an answer grew longer than all before it. */
export type Attempts = {
  /** Requests that failed, from 1. */
  readonly tries: number;
  /** Time without progress, in milliseconds: waits, and failed requests. */
  readonly waitedMs: number;
  /** Remedies already applied to the current model. Each can help only once. */
  readonly used: ReadonlySet<Remedy>;
};

/** A change of the request or of its key. */
export type Remedy =
  | "refresh-key"
  | "drop-parameter"
  | "drop-reasoning"
  | "add-reasoning"
  | "drop-images"
  | "shorten"
  | "nudge";

export type Recovery =
  | { readonly kind: "wait"; readonly delayMs: number }
  | { readonly kind: "remedy"; readonly remedy: Remedy }
  /** The current model cannot answer. */
  | { readonly kind: "give-up" };

/** Longest time without progress while another model can take over. Milliseconds. */
export const FALLBACK_AFTER_MS = 30_000;
/** Maximum number of requests for faults that seldom pass, such as a web page at a wrong address. */
const MAX_REQUESTS = 3;
const counted: ReadonlySet<FaultKind> = new Set(["malformed", "unexplained"]);

const remedies: { readonly [Kind in FaultKind]?: Remedy } = {
  authentication: "refresh-key",
  "unsupported-parameter": "drop-parameter",
  "reasoning-rejected": "drop-reasoning",
  "reasoning-missing": "add-reasoning",
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
  ...counted,
]);

/** `budgetMs`: longest time without progress. `random`: in [0, 1). */
export function recoveryOf(
  fault: Fault,
  { tries, waitedMs, used }: Attempts,
  { budgetMs, random }: { readonly budgetMs: number; readonly random: number },
): Recovery {
  const remedy = remedies[fault.kind];
  // A model can refuse several parameters, one per request. Every other remedy helps once or never.
  if (remedy !== undefined && (remedy === "drop-parameter" || !used.has(remedy))) return { kind: "remedy", remedy };
  const hintMs = fault.retryAfterMs ?? 0;
  const leftMs = budgetMs - waitedMs;
  const isOver = leftMs <= 0 || hintMs > leftMs || (counted.has(fault.kind) && tries >= MAX_REQUESTS);
  if (isOver || !(fault.shouldRetry ?? passing.has(fault.kind))) return { kind: "give-up" };
  return { kind: "wait", delayMs: Math.min(leftMs, backoffMs(tries, hintMs, random)) };
}

/** Wait before the second request; it doubles with each. Short, because a person is waiting. */
const BASE_MS = 1_000;
/** Longest wait without a hint: a provider that is back is noticed within this time. */
const CAP_MS = 30_000;
/** Random share of the delay, so that many clients do not retry at the same moment. */
const JITTER = 0.5;

/** Delay in milliseconds. `tries`: failed requests, from 1. `hintMs`: the provider's hint. `random`: in [0, 1). */
export function backoffMs(tries: number, hintMs: number, random: number): number {
  const delay = Math.min(CAP_MS, BASE_MS * 2 ** (tries - 1)) * (1 + JITTER * random);
  return Math.round(Math.max(delay, hintMs === 0 ? 0 : hintMs + BASE_MS * JITTER * random));
}
