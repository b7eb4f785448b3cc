/** Reads the facts from an error of any library. */
import * as z from "zod";

export type ErrorDetails = RetryHint & {
  /** HTTP status, also from an error code within a stream. */
  readonly status: number | undefined;
  /** Names and codes of the error, its causes and the provider's error object, separated by spaces. */
  readonly codes: string;
  /** All texts of the error, for matching only. */
  readonly text: string;
  /** Text of the provider or library, for people. */
  readonly detail: string;
  /** Request parameter that the provider blames. */
  readonly parameter: string | undefined;
  /** Parameters that the request had; empty for an error of a stream. */
  readonly sent: readonly string[];
};

const scalar = z.union([z.string(), z.number()]).nullish().catch(undefined);

const bodySchema = z.object({
  message: z.string().nullish().catch(undefined),
  code: scalar,
  type: scalar,
  /** Google's name of the error. */
  status: scalar,
  param: z.string().nullish().catch(undefined),
  /** OpenRouter: answer of the provider behind it, as text. */
  metadata: z
    .object({ raw: z.string().nullish().catch(undefined) })
    .nullish()
    .catch(undefined),
});

/** Longest JSON that is quoted for a body without a text. Characters. */
const QUOTED_CHARS = 500;

const fields = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null ? { ...value } : undefined;

/**
 * The error object in the body of a response. Servers wrap it in `error`, `errors` or an array, or send only a text:
 * as the body, `error`, `detail`, `message` or `msg`. FastAPI and Mistral send a list of `loc` and `msg`.
 */
function errorObjectIn(body: unknown): unknown {
  if (typeof body === "string") return { message: body };
  if (Array.isArray(body)) return errorObjectIn(body[0]);
  const object = fields(body);
  if (object === undefined) return undefined;
  const inner = ["error", "errors", "Response", "Error"].map((name) => object[name]).find((value) => fields(value));
  if (inner !== undefined) return errorObjectIn(inner);
  const message = textIn(object) ?? JSON.stringify(object).slice(0, QUOTED_CHARS);
  return { ...object, message };
}

function textIn(object: Readonly<Record<string, unknown>>): string | undefined {
  const found = [object["message"], object["detail"], object["error"], object["msg"], object["Message"]];
  return found.map(textOf).find((text) => text !== undefined && text !== "");
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) {
    const lines = value.map(textOf).filter((line) => line !== undefined);
    return lines.length === 0 ? undefined : lines.join("\n");
  }
  const object = fields(value);
  if (object === undefined) return undefined;
  const { loc } = object;
  const place = Array.isArray(loc) ? loc.filter((part) => part !== "body").join(".") : "";
  const text = textIn(object);
  return text === undefined || place === "" ? text : `${place}: ${text}`;
}

/** Headers of a response. Not the standard's class, whose name makes Node load a second HTTP client. */
const headersSchema = z.custom<ResponseHeaders>(
  (value) => typeof value === "object" && value !== null && "get" in value && "entries" in value,
);

const errorSchema = z.object({
  name: z.string().catch(""),
  message: z.string().catch(""),
  status: z.number().optional().catch(undefined),
  code: scalar,
  headers: headersSchema.optional().catch(undefined),
  error: z.unknown().optional(),
  sent: z.array(z.string()).catch([]),
  issues: z
    .array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))
    .optional()
    .catch(undefined),
});

type OneError = Omit<z.infer<typeof errorSchema>, "error"> & {
  readonly error: z.infer<typeof bodySchema> | undefined;
  /** As the library gives it. */
  readonly body: unknown;
};

function readError(error: unknown): OneError {
  const read = errorSchema.parse(error);
  return { ...read, error: bodySchema.safeParse(errorObjectIn(read.error)).data, body: read.error };
}

/** Marks an error object of the provider, since the SDKs' errors have no names. */
export const FROM_PROVIDER = "from-provider";

/** Messages that add nothing to their cause. */
const EMPTY_MESSAGES = /^(connection error|fetch failed)?\.?$/i;

/** Depth limit, since a chain of causes may be circular. */
const MAX_CAUSES = 5;

/** Reads an error and its causes. `now`: milliseconds since 1970, for retry dates. */
export function readErrorDetails(error: unknown, now: number): ErrorDetails {
  const chain = causesOf(error);
  const [first] = chain;
  const last = chain.at(-1);
  const body = first?.error;
  const codes = chain.flatMap(({ name, code, error: inner }) => [name, code, inner?.code, inner?.type, inner?.status]);
  if (body !== undefined) codes.push(FROM_PROVIDER);
  const words = chain.map(({ message }) => message);
  const status = statusOf(first);
  const text = [...words, body?.message, body?.metadata?.raw].filter(Boolean).join("\n") || String(error);
  return {
    status,
    codes: codes.filter((code) => code !== undefined && code !== null && code !== "").join(" "),
    text,
    detail: detailOf(first, last) ?? String(error),
    ...readRetryHint({ status, headers: first?.headers, body: first?.body, text }, now),
    parameter: body?.param ?? undefined,
    sent: first?.sent ?? [],
  };
}

function causesOf(error: unknown): readonly OneError[] {
  const chain: OneError[] = [];
  for (let next = error; next instanceof Error && chain.length < MAX_CAUSES; next = next.cause) {
    chain.push(readError(next));
  }
  return chain;
}

/** OpenRouter and others send the status within the stream, as an error code. */
function statusOf(error: OneError | undefined): number | undefined {
  const candidates = [error?.status, Number(error?.error?.code), Number(error?.code)];
  return candidates.find((status) => status !== undefined && status >= 400 && status < 600);
}

/** The deepest cause of a connection error is the informative one. */
function detailOf(first: OneError | undefined, last: OneError | undefined): string | undefined {
  if (first?.issues?.[0]) {
    const { path, message } = first.issues[0];
    return `${path.join(".") || "chunk"}: ${message}`;
  }
  const own = first?.error?.message || first?.message.replace(/^\d{3} /, "") || "";
  if (own === "" && first?.status !== undefined) return ""; // a response without a body
  const inner = first?.error?.metadata?.raw ?? (last === first ? "" : last?.message);
  if (!inner) return own || undefined;
  return EMPTY_MESSAGES.test(own) ? inner : `${own.replace(/\.$/, "")}: ${inner}`;
}

export type RetryHint = {
  /** Minimum delay before a retry, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The provider's own verdict (`x-should-retry`); undefined without one. */
  readonly shouldRetry: boolean | undefined;
};

export type ResponseHeaders = Pick<Headers, "get" | "entries">;

export type HintSource = {
  readonly status: number | undefined;
  readonly headers: ResponseHeaders | undefined;
  /** Parsed body of the error. */
  readonly body: unknown;
  readonly text: string;
};

/** `now`: milliseconds since 1970. Dates count from the response's own `date`, since either clock can be wrong. */
export function readRetryHint({ status, headers, body, text }: HintSource, now: number): RetryHint {
  const date = Date.parse(headers?.get("date") ?? "");
  const from = Number.isNaN(date) ? now : date;
  // Rate limit headers accompany every response, but only a refusal makes them a hint.
  const reset = headers && status === 429 ? resetOf(headers, from) : undefined;
  const said = text.slice(0, ADVICE_CHARS);
  const [inBody, inJson] = [String(JSON.stringify(body)), said].map((json) => delayInJson(json, status, from));
  const hint = (headers && retryAfter(headers, from)) ?? inBody ?? delayInText(said, from) ?? inJson ?? reset;
  return {
    retryAfterMs: hint === undefined ? undefined : Math.max(0, Math.round(hint)),
    shouldRetry: VERDICTS.get(headers?.get("x-should-retry") ?? ""),
  };
}

const VERDICTS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

function retryAfter(headers: ResponseHeaders, from: number): number | undefined {
  const precise = numberIn(headers.get("retry-after-ms"));
  if (precise !== undefined) return precise;
  const value = headers.get("retry-after");
  const seconds = numberIn(value);
  return seconds === undefined ? untilDate(value, from) : seconds * 1_000;
}

/** `x-ratelimit-reset-tokens`, `anthropic-ratelimit-requests-reset`, `ratelimit-reset` … */
const RESET = /^(?:x-|anthropic-)?ratelimit-(?:.*-)?reset(?:-|$)/;

/** Delay until the exhausted limits reset. If none is known to be exhausted, the earliest reset counts. */
function resetOf(headers: ResponseHeaders, from: number): number | undefined {
  const limits = [...headers.entries()].flatMap(([name, value]) => {
    const delay = RESET.test(name) ? untilReset(value.trim(), from) : undefined;
    const remaining = numberIn(headers.get(name.replace("reset", "remaining")));
    return delay === undefined ? [] : [{ delay, isExhausted: remaining !== undefined && remaining <= 0 }];
  });
  const exhausted = limits.filter(({ isExhausted }) => isExhausted).map(({ delay }) => delay);
  if (exhausted.length > 0) return Math.max(...exhausted);
  return limits.length === 0 ? undefined : Math.min(...limits.map(({ delay }) => delay));
}

/** Larger numbers are times since 1970, in milliseconds or seconds. Smaller ones are seconds from now. */
const LEAST_EPOCH_MS = 1e12;
const LEAST_EPOCH_SECONDS = 1e9;

function untilReset(value: string, from: number): number | undefined {
  const number = numberIn(value);
  if (number === undefined) return DURATION.test(value) ? sumOf(value) : untilDate(value, from);
  if (number >= LEAST_EPOCH_MS) return number - from;
  return (number >= LEAST_EPOCH_SECONDS ? number - from / 1_000 : number) * 1_000;
}

function untilDate(value: string | null, from: number): number | undefined {
  const date = Date.parse(value ?? "");
  return Number.isNaN(date) ? undefined : date - from;
}

function numberIn(value: string | null): number | undefined {
  const number = value === null || value.trim() === "" ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** Google's `retryDelay`, `retry_after_ms`, Codex's `resets_in_seconds`, the header that OpenRouter puts into its body. */
const RETRY_FIELD =
  /"[\w-]*(?:retry_?(?:after|delay)|resets_?(?:in|at|after)|(reset))(_ms)?(?:_seconds)?"\s*:\s*"?([^"{[\],}]+)/gi;

/** In other errors than those of a limit, a reset is also one of a connection. */
function delayInJson(json: string, status: number | undefined, from: number): number | undefined {
  const delays = [...json.matchAll(RETRY_FIELD)].map(([, isReset, isMs, value = ""]) => {
    if (isReset !== undefined && status !== 429 && status !== 503) return undefined;
    return isMs === undefined ? untilReset(value.trim(), from) : numberIn(value);
  });
  return delays.find((delay) => delay !== undefined);
}

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|milli)/i, 1],
  [/^s/i, 1_000],
  [/^m/i, 60_000],
  [/^h/i, 3_600_000],
  [/^d/i, 86_400_000],
];
const AMOUNT = String.raw`\d+(?:\.\d+)?\s?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])`;
const AMOUNTS = new RegExp(AMOUNT, "gi");
const DURATION = new RegExp(`^(?:${AMOUNT}\\s?)+$`, "i");
/** "try again in 3.5s" · "Please retry in 20 seconds" · "wait 1 minute and 5 seconds" · "resets in 2h" */
const ADVICE = new RegExp(
  `(?:try again|retry|wait|resets?)(?: (?:after|in|for))?:? (?:about |at least )?(${AMOUNT}(?:(?:,? |,? and )?${AMOUNT}){0,3})`,
  "i",
);
/** GLM: "Your limit will reset at 2026-11-30 09:12:00" */
const RESET_DATE = /(?:try again|retry|resets?)(?: at| on| after)? (\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?Z?)/i;
/** Advice follows within the beginning of a text. Characters. */
const ADVICE_CHARS = 20_000;

function delayInText(said: string, from: number): number | undefined {
  const date = untilDate(RESET_DATE.exec(said)?.[1] ?? null, from);
  return sumOf(ADVICE.exec(said)?.[1] ?? "") ?? date;
}

function sumOf(text: string): number | undefined {
  const amounts = text.match(AMOUNTS);
  return amounts?.reduce((sum, amount) => {
    const unit = amount.replace(/^[\d.\s]+/, "");
    return sum + Number.parseFloat(amount) * (UNITS.find(([name]) => name.test(unit))?.[1] ?? 0);
  }, 0);
}
