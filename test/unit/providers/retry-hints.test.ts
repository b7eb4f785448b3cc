import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { apiError, faultOf } from "./support/api-errors.ts";

describe("hints about a retry", () => {
  const waitOf = (headers: Record<string, string>, error: object = { message: "slow" }, status = 429) =>
    faultOf(apiError(status, error, headers)).retryAfterMs;

  test("Retry-After in seconds and in milliseconds", () => {
    expect(waitOf({ "retry-after": "1.5" })).toBe(1_500);
    expect(waitOf({ "retry-after-ms": "250", "retry-after": "9" })).toBe(250);
    expect(waitOf({ "retry-after": "-5" })).toBe(0);
    expect(waitOf({ "retry-after": "soon" })).toBeUndefined();
    expect(waitOf({})).toBeUndefined();
  });

  test("Retry-After as a date counts from the date of the response, whatever this machine's clock says", () => {
    const date = "Mon, 02 Jan 2012 10:00:00 GMT";
    expect(waitOf({ date, "retry-after": "Mon, 02 Jan 2012 10:00:03 GMT" })).toBe(3_000);
    expect(waitOf({ date, "retry-after": "Mon, 02 Jan 2012 09:00:00 GMT" })).toBe(0);
    const ours = waitOf({ "retry-after": new Date(Date.now() + 60_000).toUTCString() });
    expect(ours).toBeGreaterThan(50_000);
    expect(ours).toBeLessThanOrEqual(60_000);
  });

  test("the reset of the rate limit that is exhausted", () => {
    const tokens = { "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m30s" };
    const requests = { "x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": "6ms" };
    expect(waitOf({ ...tokens, ...requests })).toBe(90_000);
    expect(waitOf(requests)).toBe(6);
    expect(waitOf({ "x-ratelimit-reset": "12" })).toBe(12_000);
    const date = "Mon, 02 Jan 2012 10:00:00 GMT";
    expect(waitOf({ date, "x-ratelimit-reset": String(Date.parse(date) + 4_000) })).toBe(4_000);
    expect(waitOf({ date, "anthropic-ratelimit-unified-reset": String(Date.parse(date) / 1_000 + 5) })).toBe(5_000);
    const anthropic = {
      "anthropic-ratelimit-requests-remaining": "9",
      "anthropic-ratelimit-requests-reset": "2012-01-02T10:00:01Z",
      "anthropic-ratelimit-tokens-remaining": "0",
      "anthropic-ratelimit-tokens-reset": "2012-01-02T10:00:20Z",
    };
    expect(waitOf({ date, ...anthropic })).toBe(20_000);
    expect(waitOf({ date, ...anthropic, "retry-after": "7" })).toBe(7_000);
    expect(waitOf(tokens, { message: "oops" }, 500), "the limits of a response that failed otherwise").toBeUndefined();
  });

  test("Google's RetryInfo in the body, also of a provider behind OpenRouter", () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }];
    const message = "You exceeded your current quota. Please retry in 34.5s.";
    expect(waitOf({}, { code: 429, message, status: "RESOURCE_EXHAUSTED", details })).toBe(34_500);
    expect(faultOf(apiError(429, { message, details })).kind).toBe("rate-limit");
    const raw = JSON.stringify({ error: { message: "slow", details } });
    expect(waitOf({}, { message: "Provider returned error", metadata: { raw } })).toBe(34_500);
    expect(waitOf({}, { message: "slow", retry_after: 8 })).toBe(8_000);
    expect(waitOf({}, { message: "slow", retryAfterMs: 8 })).toBeUndefined();
  });

  test.each([
    ["Rate limit reached. Please try again in 3.5s. Visit …", 3_500],
    ["Please try again in 6m0s.", 360_000],
    ["try again in 12ms", 12],
    ["Please retry in 20 seconds", 20_000],
    ["Please retry after 1 second.", 1_000],
    ["limited; wait 1 minute and 5 seconds", 65_000],
    ["Usage limit reached, resets in 2h 30m", 9_000_000],
    ["Usage limit reached for 5 hour. Your limit will reset at 2012-01-02 10:00:09Z", 9_000],
    ["try again in a while", undefined],
    ["wait 3 monkeys", undefined],
  ])("in words: %s", (message, ms) => {
    expect(waitOf({ date: "Mon, 02 Jan 2012 10:00:00 GMT" }, { message })).toBe(ms);
  });

  const date = "Mon, 02 Jan 2012 10:00:00 GMT";
  test.each([
    ["Codex", { type: "usage_limit_reached", message: "reached", resets_in_seconds: 9_000 }, 9_000_000],
    ["Codex's time", { message: "reached", resets_at: Date.parse(date) / 1_000 + 7 }, 7_000],
    ["OpenRouter", { message: "no", metadata: { headers: { "X-RateLimit-Reset": String(Date.parse(date) + 5) } } }, 5],
  ])("in a field of the body, as %s has them", (_, body, ms) => {
    expect(waitOf({ date }, body)).toBe(ms);
  });

  test.each([
    [429, "Too many tokens per day, please wait before trying again.", "rate-limit"],
    [
      429,
      "Quota exceeded for metric: free_tier_requests, limit: 0, model: gemini-3-pro\nPlease retry in 41.8s.",
      "billing",
    ],
    [429, "Your account has reached the set inference limit, and the model service has been paused.", "billing"],
    [403, "The free tier of the model has been exhausted.", "billing"],
    [403, "Sorry, your account balance is insufficient", "billing"],
    [
      429,
      "Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0.",
      "billing",
    ],
    [429, "Rate limit exceeded: free-models-per-day.", "rate-limit"],
  ])("a limit that no wait outlasts is not waited for: %i %s", (status, message, kind) => {
    const fault = faultOf(apiError(status, { message }));
    expect(fault.kind).toBe(kind);
    expect(fault.shouldRetry ?? kind !== "billing").toBe(false);
  });

  test.each([
    [429, "Rate limit exceeded: 20 requests per minute and 200 requests per day.", "rate-limit"],
    [429, "Too many requests. Slow down. Daily limits are on https://example.com/limits", "rate-limit"],
    [429, "You are limited to 20 API calls per minute. Limits: 1,000 calls per month", "rate-limit"],
    [429, "We see very high demand this week. Please slow down.", "rate-limit"],
    [429, "Rate limit exceeded, limit: 0.5 requests per second", "rate-limit"],
    [429, "Remaining limit: 0, try again in 10s", "rate-limit"],
    [429, "Free tier requests are exhausted, try again in 10s", "rate-limit"],
    [403, "Your inference endpoint has been paused, resuming", "authentication"],
  ])("a limit that passes is no bill, and the kind alone decides about a retry: %i %s", (status, message, kind) => {
    const fault = faultOf(apiError(status, { message }));
    expect([fault.kind, fault.shouldRetry]).toEqual([kind, undefined]);
  });

  test("a provider that asks for a retry gets one after a limit for a day", () => {
    const fault = faultOf(apiError(429, { message: "Too many tokens per day" }, { "x-should-retry": "true" }));
    expect(fault.shouldRetry).toBe(true);
  });

  test("a reset of a connection is no hint", () => {
    expect([429, 502, 503].map((status) => waitOf({}, { message: "no", reset: 120 }, status))).toEqual([
      120_000,
      undefined,
      120_000,
    ]);
    expect(waitOf({}, { message: "no", connection_reset: 120 }, 502)).toBeUndefined();
  });

  test("a call that Groq read, and does not allow, is not asked for again", () => {
    const message = "Tool choice is none, but model called a tool";
    expect(faultOf(apiError(400, { message, code: "tool_use_failed" })).kind).toBe("bad-request");
  });

  test("x-should-retry is the provider's verdict, and an untrusted certificate is ours", () => {
    const verdictOf = (value: string) =>
      faultOf(apiError(503, { message: "no" }, { "x-should-retry": value })).shouldRetry;
    expect([verdictOf("true"), verdictOf("false"), verdictOf("perhaps")]).toEqual([true, false, undefined]);
    const cause = Object.assign(new Error("no"), { code: "SELF_SIGNED_CERT_IN_CHAIN" });
    expect(faultOf(new OpenAI.APIConnectionError({ cause })).shouldRetry).toBe(false);
  });

  test("a long advice, which a pattern could read for hours, is read at once", () => {
    const message = `${"wait 1 s ".repeat(20_000)} ${"1 ".repeat(50_000)}`;
    expect(waitOf({}, { message })).toBe(waitOf({}, { message: "wait 1 s" }));
  });

  test("the message says when the provider works again", () => {
    const messageOf = (seconds: number) =>
      faultOf(apiError(429, { message: "slow" }, { "retry-after": String(seconds) })).message;
    expect(messageOf(70)).toBe("openai limits requests to gpt-4.1 (429): slow. Try again in 70 s.");
    expect(messageOf(600)).toContain("Try again in 10 min.");
    expect(faultOf(apiError(429, { message: "Rate limit reached. Please try again in 20s." })).message).toBe(
      "openai limits requests to gpt-4.1 (429): Rate limit reached. Please try again in 20s.",
    );
    expect(messageOf(18_000)).toContain("Try again in 5 h.");
  });
});
