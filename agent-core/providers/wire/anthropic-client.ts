/**
 * Anthropic's library, set up so that nothing comes from the process's environment and no key goes astray. Imported on
 * first use only; its base class alone, because the whole one brings 300 kB of other parts of the API with it.
 */
import { BaseAnthropic } from "@anthropic-ai/sdk";
import { anthropic, deploymentAt } from "../deployments.ts";
import type { AnthropicMessagesBody } from "./anthropic-messages-request.ts";
import type { Endpoint } from "./wire.ts";

/** The library's own limit until the answer begins; whoever called watches for silence. */
const REQUEST_TIMEOUT_MS = 3_600_000;
/** Without any key the library would look for one in the environment and on disk; it is not sent. */
const NO_KEY = "none";

/** The version that the library's types describe. */
const API_VERSION = "2026-10-21";
/** The one that compatible endpoints were made for; all that we send was known to it. */
const COMPATIBLE_VERSION = "2023-06-01";

/** Sends the request. Throws the library's errors, for statuses of 400 and more too. */
export function postMessages(endpoint: Endpoint, body: AnthropicMessagesBody, signal: AbortSignal): Promise<Response> {
  const client = new BaseAnthropic({
    apiKey: endpoint.apiKey ?? NO_KEY,
    // People write addresses with and without the version. Null: never from the process's environment.
    baseURL: endpoint.baseUrl?.replace(/\/v1\/?$/, "") ?? null,
    webhookKey: null,
    openTelemetry: false,
    maxRetries: 0,
    timeout: REQUEST_TIMEOUT_MS,
    logLevel: "off",
    fetch: (url, init) => fetchFrom(url, { ...init, headers: headersFor(endpoint) }),
  });
  // Not `messages.create`: it writes warnings about models to the console.
  return client.post("/v1/messages", { body, signal, stream: true }).asResponse();
}

/**
 * All that is sent: the library would add headers from the process's environment, which may be about another provider.
 * Anthropic reads `x-api-key`; of the compatible endpoints some read that, some a bearer token.
 */
function headersFor({ baseUrl = anthropic.baseUrl ?? "", apiKey }: Endpoint): Record<string, string> {
  const isOwn = deploymentAt(baseUrl) === anthropic;
  return {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "anthropic-version": isOwn ? API_VERSION : COMPATIBLE_VERSION,
    ...(apiKey !== undefined && { "x-api-key": apiKey }),
    ...(apiKey !== undefined && !isOwn && { authorization: `Bearer ${apiKey}` }),
  };
}

/** Fetches without following redirects: `fetch` would carry `x-api-key` and the conversation to any other origin. */
async function fetchFrom(url: string | URL | Request, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "manual" });
  const location = response.headers.get("location");
  if (response.status < 300 || response.status >= 400 || location === null) return response;
  await response.body?.cancel();
  const from = url instanceof Request ? url.url : String(url);
  const to = URL.canParse(location, from) ? new URL(location, from) : undefined;
  const where = to === undefined ? "elsewhere" : `to ${to.origin}${to.pathname}`;
  throw new Error(`it redirects ${where}; if you trust that place, make it the base URL`);
}
