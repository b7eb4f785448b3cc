/** The recovery from each kind of fault: one table for all providers. Pure. */
import type { Fault, FaultKind } from "../fault.ts";

/** History of one call since its last progress: since an answer grew longer than all before it. */
export type Attempts = {
  /** Requests that failed, from 1. */
  readonly tries: number;
  /** Time without progress, in milliseconds: waits, and failed requests that were answered. */
  readonly waitedMs: number;
  /** Requests that got no answer at all: a server may read a long prompt, so their time does not count. */
  readonly silences: number;
  /** Remedies already applied to the current model. Each can help only once. */
  readonly used: ReadonlySet<Remedy>;
};

/** A change of the request or of its key. */
export type Remedy =
  | "refresh-key"
  | "drop-parameter"
  | "drop-reasoning"
  | "add-reasoning"
  /** Leaves out the pictures that no answer has followed yet. */
  | "drop-new-images"
  | "drop-images"
  /** Leaves out the tool results that no answer has followed yet. */
  | "drop-new-results"
  /** Leaves out the messages of earlier turns that no answer has followed. */
  | "drop-unanswered"
  /** Sends the messages as strict templates want them. */
  | "separate-roles"
  | "merge-system"
  /** Leaves out the tool that the refusal names. */
  | "drop-tool"
  /** Sends the tools with those parts of their schemas alone that all servers take. */
  | "plain-schemas"
  /** Leaves out the tools of MCP servers and plugins that no answered request had. */
  | "drop-new-tools"
  | "lower-output"
  | "shorten"
  | "nudge";

export type Recovery =
  | { readonly kind: "wait"; readonly delayMs: number }
  | { readonly kind: "remedy"; readonly remedy: Remedy }
  /** The current model cannot answer. */
  | { readonly kind: "give-up" };

/** Longest time without progress while another model can take over. Milliseconds. */
export const FALLBACK_AFTER_MS = 30_000;
/** Longest time without progress at an address that has never answered: it is mistyped, or its server does not run. */
export const UNREACHED_AFTER_MS = 20_000;
/** Maximum number of requests for faults that seldom pass, such as a web page at a wrong address. */
const MAX_REQUESTS = 3;
/** Maximum number of requests without any answer. */
const MAX_SILENCES = 2;
const counted: ReadonlySet<FaultKind> = new Set(["malformed", "unexplained"]);

/** Remedies of a known fault, in the order in which they are tried. */
const remedies: { readonly [Kind in FaultKind]?: readonly Remedy[] } = {
  authentication: ["refresh-key"],
  "unsupported-parameter": ["drop-parameter"],
  "reasoning-rejected": ["drop-reasoning"],
  "reasoning-missing": ["add-reasoning"],
  "image-rejected": ["drop-new-images", "drop-images"],
  "no-vision": ["drop-images"],
  "context-overflow": ["shorten", "lower-output"],
  "output-limit": ["lower-output", "shorten"],
  empty: ["nudge"],
  "unread-call": ["nudge"],
};

export type RefusedRequest = {
  /** It has pictures that no answer has followed yet. */
  readonly hasNewImages: boolean;
  /** Characters of the longest tool result that no answer has followed yet; 0: none. */
  readonly longestResult: number;
  /** Messages of the user before its last one got no answer. */
  readonly hasUnanswered: boolean;
  /** A user message follows a tool result, or the text of an answer is null and the refusal is about that. */
  readonly hasUnusualForm: boolean;
  /** The refusal is about the system message. */
  readonly namesSystem: boolean;
  /** It has opaque parts of earlier answers, such as signatures. */
  readonly hasOpaqueParts: boolean;
  readonly namesTool: boolean;
  /** It has tools of MCP servers or plugins that no answered request had. */
  readonly hasNewTools: boolean;
  /** It is long, and longer than each request that was answered. */
  readonly isLongest: boolean;
  /** It goes to a server of the user's own. */
  readonly isToOwnServer: boolean;
};

/** Failures of a server in a row that are taken for a refusal of a picture, and of any part of the request. */
const CRASHES = { ofPicture: 2, ofRequest: 4 } as const;

/** Shorter results hardly cause a refusal in unknown words. Characters. */
const SHORT_RESULT_CHARS = 400;

/** Refusals whose cause is not known: in unknown words, of too long a body, by a filter, of an address, and of a crash. */
type Unclear = "unknown" | "too-long" | "filtered" | "missing" | "crash";

function unclearKind({ kind, status }: Fault, { tries, used }: Attempts, isToOwnServer: boolean): Unclear | undefined {
  if (kind === "filtered") return kind;
  if (kind === "bad-request") return "unknown";
  if (kind === "context-overflow") return status === 413 ? "too-long" : undefined;
  // A server that does not keep an item says so in the words of a wrong address.
  if (kind === "unknown") return status === 404 ? "missing" : undefined;
  if (kind !== "server" || tries < CRASHES.ofPicture) return undefined;
  // The failures of a public service are an outage, for which no part of the request may go.
  if (!isToOwnServer) return status === 500 ? "crash" : undefined;
  // A local server breaks at what it cannot read, and breaks again.
  return tries < CRASHES.ofRequest && !used.has("drop-new-images") ? "crash" : "unknown";
}

/** A refusal stays in each later request, unless what is new since the last answered one leaves it. */
function remediesOf(fault: Fault, attempts: Attempts, request: RefusedRequest): readonly Remedy[] {
  const unclear = unclearKind(fault, attempts, request.isToOwnServer);
  if (unclear === undefined) return remedies[fault.kind] ?? [];
  const resultChars = unclear === "filtered" ? 0 : SHORT_RESULT_CHARS;
  const any = ["unknown", "too-long"] as const;
  const ladder: readonly (readonly [Remedy, readonly Unclear[], boolean])[] = [
    ["separate-roles", any, request.hasUnusualForm],
    ["merge-system", any, request.namesSystem],
    ["drop-tool", any, request.namesTool],
    ["drop-new-images", [...any, "filtered", "crash"], request.hasNewImages],
    ["shorten", ["too-long"], true],
    ["plain-schemas", any, request.hasNewTools],
    ["drop-new-tools", any, request.hasNewTools],
    ["drop-reasoning", ["unknown", "missing"], request.hasOpaqueParts],
    ["drop-new-results", [...any, "filtered"], request.longestResult > resultChars],
    ["drop-unanswered", [...any, "filtered"], request.hasUnanswered],
    ["shorten", ["unknown"], request.isLongest],
  ];
  return ladder.filter(([, kinds, helps]) => helps && kinds.includes(unclear)).map(([remedy]) => remedy);
}

/** A model can refuse several parameters, tools, pictures or limits, one per request. Every other remedy helps once or never. */
export const REPEATED = new Set<Remedy>(["drop-parameter", "drop-tool", "drop-new-images", "lower-output"]);

const waiting: readonly FaultKind[] = ["rate-limit", "overloaded", "server", "network", "timeout", "cut-off"];
const passing = new Set<FaultKind>([...waiting, ...counted]);

/** `budgetMs`: longest time without progress. `random`: in [0, 1). */
export function recoveryOf(
  fault: Fault,
  attempts: Attempts,
  {
    budgetMs,
    random,
    request,
  }: { readonly budgetMs: number; readonly random: number; readonly request: RefusedRequest },
): Recovery {
  const { tries, waitedMs, silences, used } = attempts;
  const remedy = remediesOf(fault, attempts, request).find((each) => !used.has(each));
  if (remedy !== undefined) return { kind: "remedy", remedy };
  const hintMs = fault.retryAfterMs ?? 0;
  const leftMs = budgetMs - waitedMs;
  const isSpent = silences >= MAX_SILENCES || (counted.has(fault.kind) && tries >= MAX_REQUESTS);
  const isOver = isSpent || leftMs <= 0 || hintMs > leftMs;
  if (isOver || !(fault.shouldRetry ?? passing.has(fault.kind))) return { kind: "give-up" };
  return { kind: "wait", delayMs: Math.min(leftMs, backoffMs(tries, hintMs, random)) };
}

/** Wait before the second request; it doubles with each. Short, because a person is waiting. */
const BASE_MS = 1_000;
/** Longest wait without a hint: a provider that is back is noticed within this time. */
const CAP_MS = 30_000;
/** Random share of the delay, so that many clients do not retry at the same moment. */
const JITTER = 0.5;

/**
 * Delay in milliseconds. `tries`: failed requests, from 1. `hintMs`: the provider's hint, which replaces the doubling; 0:
 * none. `random`: in [0, 1).
 */
export function backoffMs(tries: number, hintMs: number, random: number): number {
  if (hintMs > 0) return Math.round(hintMs + BASE_MS * JITTER * random);
  return Math.round(Math.min(CAP_MS, BASE_MS * 2 ** (tries - 1)) * (1 + JITTER * random));
}
