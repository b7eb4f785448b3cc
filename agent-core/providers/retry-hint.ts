/** Reads a provider's hints about a retry from the headers, the body and the text of an error. */

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
  /** All texts of the error. */
  readonly text: string;
};

/** `now`: milliseconds since 1970. Dates count from the response's own `date`, since either clock can be wrong. */
export function readRetryHint({ status, headers, body, text }: HintSource, now: number): RetryHint {
  const date = Date.parse(headers?.get("date") ?? "");
  const from = Number.isNaN(date) ? now : date;
  // Rate limit headers accompany every response, but only a refusal makes them a hint.
  const reset = headers && status === 429 ? resetOf(headers, from) : undefined;
  const hint = (headers && retryAfter(headers, from)) ?? delayInBody(body) ?? delayInText(text) ?? reset;
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
  if (number === undefined) return durationMs(value) ?? untilDate(value, from);
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

/** Google's RetryInfo. */
const RETRY_DELAY = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/;
const RETRY_AFTER = /"retry_?after(_ms)?(?:_seconds)?"\s*:\s*"?(\d+(?:\.\d+)?)/i;

function delayInBody(body: unknown): number | undefined {
  return body === undefined ? undefined : delayInJson(String(JSON.stringify(body)));
}

function delayInJson(json: string): number | undefined {
  const delay = RETRY_DELAY.exec(json)?.[1];
  if (delay !== undefined) return Number(delay) * 1_000;
  const [, milliseconds, after] = RETRY_AFTER.exec(json) ?? [];
  return after === undefined ? undefined : Number(after) * (milliseconds === undefined ? 1_000 : 1);
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
/** Advice follows within the beginning of a text. Characters. */
const ADVICE_CHARS = 20_000;

function delayInText(text: string): number | undefined {
  const said = text.slice(0, ADVICE_CHARS);
  return sumOf(ADVICE.exec(said)?.[1] ?? "") ?? delayInJson(said);
}

/** Milliseconds of `1m30s`, `6ms` or `20 seconds`; undefined for any other text. */
function durationMs(text: string): number | undefined {
  return DURATION.test(text) ? sumOf(text) : undefined;
}

function sumOf(text: string): number | undefined {
  const amounts = text.match(AMOUNTS);
  return amounts?.reduce((sum, amount) => {
    const unit = amount.replace(/^[\d.\s]+/, "");
    return sum + Number.parseFloat(amount) * (UNITS.find(([name]) => name.test(unit))?.[1] ?? 0);
  }, 0);
}
