/** One JSON request to a model endpoint, with its key. Errors become faults. */
import { httpFetch } from "../../platform/http/http-fetch.ts";
import { classify } from "../classify.ts";
import type { Fault } from "../fault.ts";
import type { ApiMode, Endpoint } from "../wire/wire.ts";

export type EndpointAnswer =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly fault: Fault };

export type Place = { readonly mode: ApiMode; readonly endpoint: Endpoint };

/** Version header of Anthropic's API. */
const ANTHROPIC_VERSION = "2023-06-01";

/** Sends GET, or POST with `body`. */
export async function askEndpoint(
  { mode, endpoint }: Place,
  url: string,
  { signal, body }: { readonly signal: AbortSignal; readonly body?: unknown },
): Promise<EndpointAnswer> {
  try {
    const response = await httpFetch(url, {
      method: body === undefined ? "GET" : "POST",
      headers: { accept: "application/json", "content-type": "application/json", ...keyHeaders(mode, endpoint) },
      signal,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw Object.assign(new Error(errorText(text)), { status: response.status });
    return { ok: true, body: JSON.parse(text) };
  } catch (error) {
    return { ok: false, fault: classify(error, { endpoint, model: "its models" }) };
  }
}

/** URL of the endpoint's list of models. */
export function modelsUrl({ mode, endpoint }: Place): string {
  const base = (endpoint.baseUrl ?? "").replace(/\/+$/, "");
  if (mode !== "anthropic_messages") return `${base}/models`;
  return `${base.replace(/\/v1$/, "")}/v1/models?limit=1000`;
}

function keyHeaders(mode: ApiMode, { apiKey }: Endpoint): Readonly<Record<string, string>> {
  if (mode === "anthropic_messages") {
    return { "anthropic-version": ANTHROPIC_VERSION, ...(apiKey !== undefined && { "x-api-key": apiKey }) };
  }
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}

/** The error message of a JSON body, or the whole text. */
function errorText(text: string): string {
  const [, message] = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  return message ?? text;
}
