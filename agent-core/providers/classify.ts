/** From whatever a model's library threw to a fault: one table, first match decides. */
import * as z from "zod";
import type { Fault, FaultKind } from "./fault.ts";
import { redact } from "./redact.ts";
import type { Endpoint } from "./wire/wire.ts";

/** What can be read off an error without knowing its library. */
type Signs = {
  readonly status: number | undefined;
  readonly code: string;
  readonly text: string;
};

type Rule = {
  readonly kind: FaultKind;
  matches(signs: Signs): boolean;
  /** What to do, as the end of the sentence. */
  readonly advice: string;
};

const OVERFLOW =
  /context.{0,20}(length|window|limit)|maximum context|too many tokens|prompt is too long|input is too long/i;
const BILLING = /insufficient.{0,10}(quota|credit|balance|funds)|billing|payment required|spending limit|key limit/i;
const NETWORK_CODES = /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EPIPE|ENETUNREACH|EHOSTUNREACH|UND_ERR_\w+)$/;

const RULES: readonly Rule[] = [
  {
    kind: "billing",
    matches: ({ status, text }) => status === 402 || (status === 403 && BILLING.test(text)),
    advice: "Check the account's balance.",
  },
  {
    kind: "billing",
    matches: ({ status, text }) => status === 429 && BILLING.test(text),
    advice: "Check the account's balance.",
  },
  {
    kind: "authentication",
    matches: ({ status }) => status === 401 || status === 403,
    advice: "Set its key, or choose another model.",
  },
  {
    kind: "overloaded",
    matches: ({ status, text }) => status === 503 || status === 529 || (status === 429 && /overloaded/i.test(text)),
    advice: "Try again in a while.",
  },
  { kind: "rate-limit", matches: ({ status }) => status === 429, advice: "Try again in a while." },
  {
    kind: "context-overflow",
    matches: ({ status, text }) => status === 413 || OVERFLOW.test(text),
    advice: "Start a new session, or choose a model with a larger window.",
  },
  {
    kind: "model-not-found",
    matches: ({ status, text }) => status === 404 || /model.{0,40}(not found|does not exist|unknown)/i.test(text),
    advice: "Choose another model.",
  },
  { kind: "bad-request", matches: ({ status }) => status !== undefined && status >= 400 && status < 500, advice: "" },
  { kind: "server", matches: ({ status }) => status !== undefined && status >= 500, advice: "Try again in a while." },
  {
    kind: "timeout",
    matches: ({ code, text }) => code === "ETIMEDOUT" || /timed out|timeout/i.test(text),
    advice: "Try again.",
  },
  {
    kind: "network",
    matches: ({ code, text }) => NETWORK_CODES.test(code) || /connection error|fetch failed|socket hang up/i.test(text),
    advice: "Check the address and the network.",
  },
  {
    kind: "cut-off",
    matches: ({ text }) => /terminated|premature close|aborted/i.test(text),
    advice: "Send the message again.",
  },
  {
    kind: "malformed",
    matches: ({ text }) => /JSON|Unexpected token/i.test(text),
    advice: "Try again, or choose another model.",
  },
];

const errorSchema = z.object({
  status: z.number().optional().catch(undefined),
  code: z.union([z.string(), z.number()]).nullish().catch(undefined),
  message: z.string().catch(""),
  headers: z.unknown().optional(),
  cause: z.unknown().optional(),
});

/** Longest part of a provider's own words that is shown. Characters. */
const DETAIL_CHARS = 200;

/** The message is one line for people: who, what happened, what to do; never a key. */
export function classify(error: unknown, endpoint: Endpoint, model: string): Fault {
  const own = errorSchema.safeParse(error).data;
  const cause = errorSchema.safeParse(own?.cause).data;
  const signs: Signs = {
    status: own?.status,
    code: String(own?.code ?? cause?.code ?? ""),
    text: [own?.message, cause?.message].filter(Boolean).join(": ") || String(error),
  };
  const rule = RULES.find((candidate) => candidate.matches(signs));
  const kind = rule?.kind ?? "unknown";
  const retryAfterMs = retryAfter(own?.headers);
  return {
    kind,
    message: sentence(kind, signs, rule?.advice ?? "", { endpoint, model }),
    ...(signs.status !== undefined && { status: signs.status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

const HAPPENED: Readonly<Record<FaultKind, string>> = {
  authentication: "refused the key",
  billing: "wants to be paid",
  "rate-limit": "limits the rate of requests",
  overloaded: "is overloaded",
  server: "failed",
  network: "cannot be reached",
  timeout: "did not answer in time",
  "cut-off": "broke off its answer",
  "context-overflow": "cannot take a conversation this long",
  "model-not-found": "does not know the model",
  "bad-request": "refused the request",
  malformed: "answered something that cannot be understood",
  unknown: "failed",
};

function sentence(
  kind: FaultKind,
  { status, text }: Signs,
  advice: string,
  { endpoint, model }: { readonly endpoint: Endpoint; readonly model: string },
): string {
  const who = `${endpoint.provider} (${model})`;
  const code = status === undefined ? "" : ` (${status})`;
  const line = redact(text, [endpoint.apiKey]).replace(/\s+/g, " ").trim();
  const detail = line.length > DETAIL_CHARS ? `${line.slice(0, DETAIL_CHARS)}…` : line;
  return `${who} ${HAPPENED[kind]}${code}: ${detail.replace(/\.$/, "")}. ${advice}`.trim();
}

/** Seconds or an HTTP date, as milliseconds from now. */
function retryAfter(headers: unknown): number | undefined {
  const value = headers instanceof Headers ? headers.get("retry-after") : null;
  if (value === null) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
