import { Anthropic } from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import { HttpHeaders } from "../../../agent-core/platform/http/http-response.ts";
import { classify } from "../../../agent-core/providers/classify.ts";
import { ProviderError } from "../../../agent-core/providers/endpoint-request.ts";
import type { Fault, FaultKind } from "../../../agent-core/providers/fault.ts";

const request = {
  endpoint: { provider: "anthropic", baseUrl: "https://api.anthropic.com", apiKey: "sk-ant-api03-abcdefghijklmnop" },
  model: "claude-sonnet-5-5",
};

/** The error of a response: the provider's own object is nested in the body's. */
function apiError(status: number, type: string, message: string, headers: Record<string, string> = {}): Error {
  const body = { type: "error", error: { type, message }, request_id: "req_011CSHoEeqs5C35K2UUqR7Fy" };
  const sent = { model: "", max_tokens: 1, temperature: 1, thinking: {} };
  return new ProviderError({ status, headers: new HttpHeaders(headers) }, JSON.stringify(body), sent);
}

function faultOf(error: unknown): Fault {
  return classify(error, request);
}

describe("an error of Anthropic", () => {
  const cases: readonly (readonly [number, string, string, FaultKind])[] = [
    [401, "authentication_error", "invalid x-api-key", "authentication"],
    [403, "permission_error", "Your API key does not have permission to use the specified resource.", "authentication"],
    [402, "billing_error", "There's an issue with your billing or payment information.", "billing"],
    [
      400,
      "invalid_request_error",
      "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
      "billing",
    ],
    [
      400,
      "invalid_request_error",
      "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
      "billing",
    ],
    [404, "not_found_error", "model: claude-sonnet-9", "model-not-found"],
    [404, "not_found_error", "The requested resource could not be found.", "unknown"],
    [413, "request_too_large", "Request exceeds the maximum size", "context-overflow"],
    [
      429,
      "rate_limit_error",
      "This request would exceed your organization's rate limit of 50,000 tokens",
      "rate-limit",
    ],
    [529, "overloaded_error", "Overloaded", "overloaded"],
    [500, "api_error", "Internal server error", "server"],
    [504, "timeout_error", "The request timed out while processing.", "timeout"],
    [400, "invalid_request_error", "prompt is too long: 205201 tokens > 200000 maximum", "context-overflow"],
    [
      400,
      "invalid_request_error",
      "input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000, decrease input length or `max_tokens`",
      "context-overflow",
    ],
    [
      400,
      "invalid_request_error",
      "messages.1.content.0.text: cache_control: Extra inputs are not permitted",
      "unsupported-parameter",
    ],
    [
      400,
      "invalid_request_error",
      "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens",
      "output-limit",
    ],
    [400, "invalid_request_error", '"thinking.type.enabled" is not supported for this model.', "unsupported-parameter"],
    [400, "invalid_request_error", "`temperature` is deprecated for this model.", "unsupported-parameter"],
    [
      400,
      "invalid_request_error",
      "`max_tokens` must be greater than `thinking.budget_tokens`.",
      "unsupported-parameter",
    ],
  ];
  test.each(cases)("%i %s: %s is %s", (status, type, message, kind) => {
    expect(faultOf(apiError(status, type, message))).toMatchObject({ kind, status });
  });

  test("a rejected signature is distinguished from other bad requests", () => {
    const said = "messages.3.content.0: Invalid `signature` in `thinking` block";
    expect(faultOf(apiError(400, "invalid_request_error", said))).toEqual({
      kind: "reasoning-rejected",
      status: 400,
      message: `anthropic refused the request to claude-sonnet-5-5 (400): ${said}.`,
    });
  });

  test("is quoted in its own words, not as JSON", () => {
    expect(faultOf(apiError(529, "overloaded_error", "Overloaded")).message).toBe(
      "anthropic is overloaded (529): Overloaded. Try again in a while, or choose another model.",
    );
  });

  test("says when to try again", () => {
    const error = apiError(429, "rate_limit_error", "slow down", { "retry-after": "12" });
    expect(faultOf(error)).toMatchObject({ kind: "rate-limit", retryAfterMs: 12_000 });
  });
});

describe("an error in the middle of a stream", () => {
  const cases: readonly (readonly [string, string, FaultKind])[] = [
    ["overloaded_error", "Overloaded", "overloaded"],
    ["rate_limit_error", "slow down", "rate-limit"],
    ["api_error", "Internal server error", "server"],
    ["timeout_error", "took too long", "timeout"],
    ["billing_error", "no", "billing"],
    ["permission_error", "no", "authentication"],
    ["request_too_large", "no", "context-overflow"],
    ["not_found_error", "model: claude-sonnet-9", "model-not-found"],
    ["invalid_request_error", "prompt is too long: 205201 tokens > 200000 maximum", "context-overflow"],
    ["invalid_request_error", "messages: must alternate", "bad-request"],
    ["brand_new_error", "hm", "unexplained"],
  ];
  test.each(cases)("%s: %s is %s", (type, message, kind) => {
    expect(faultOf(Object.assign(new Error(message), { error: { type, message } })).kind).toBe(kind);
  });
});

describe("an error of the library", () => {
  test("is told apart: connection, timeout and abort", () => {
    const refused = new TypeError("fetch failed", {
      cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }),
    });
    expect(faultOf(new Anthropic.APIConnectionError({ cause: refused })).kind).toBe("network");
    expect(faultOf(new Anthropic.APIConnectionTimeoutError()).kind).toBe("timeout");
    expect(faultOf(new Anthropic.APIUserAbortError()).kind).toBe("cut-off");
  });
});
