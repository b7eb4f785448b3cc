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

/** The error of a response: with an error object, a text, or nothing. */
export function apiError(
  status: number,
  error: object | undefined,
  headers: Record<string, string> = {},
  text?: string,
): Error {
  const body = error === undefined ? (text ?? "") : JSON.stringify({ error });
  return new ProviderError({ status, headers: new HttpHeaders(headers) }, body);
}

export function faultOf(error: unknown): Fault {
  return classify(error, request);
}
