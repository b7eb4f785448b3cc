/** Errors of responses, and their faults for one endpoint. */
import { HttpHeaders } from "../../../../agent-core/platform/http/http-response.ts";
import { classify } from "../../../../agent-core/providers/classify.ts";
import { ProviderError } from "../../../../agent-core/providers/endpoint-request.ts";
import type { Fault } from "../../../../agent-core/providers/fault.ts";

export const KEY = "sk-proj-abcdefghijklmnop1234567890";
export const request = {
  endpoint: { provider: "openai", baseUrl: "https://api.openai.com/v1", apiKey: KEY },
  model: "gpt-4.1",
};

/** Names of the parameters in the requests of these tests. */
const SENT = [
  "model",
  "messages",
  "stream",
  "stream_options",
  "tools",
  "parallel_tool_calls",
  "temperature",
  "top_p",
  "top_k",
  "presence_penalty",
  "frequency_penalty",
  "stop",
  "max_tokens",
  "max_completion_tokens",
  "reasoning_effort",
  "reasoning",
  "enable_thinking",
  "prompt_cache_key",
  "context_length",
  "store",
  "include",
  "response_format",
];

/** The error of a response: with an error object, a text, or nothing. */
export function apiError(
  status: number,
  error: object | undefined,
  headers: Record<string, string> = {},
  text?: string,
): Error {
  const body = error === undefined ? (text ?? "") : JSON.stringify({ error });
  return new ProviderError(
    { status, headers: new HttpHeaders(headers) },
    body,
    Object.fromEntries(SENT.map((name) => [name, 1])),
  );
}

export function faultOf(error: unknown): Fault {
  return classify(error, request);
}
