/**
 * Anthropic's SDK without values from the process's environment. Only the base class is imported, on first use: the
 * full class adds 300 kB of other API parts.
 */
import { BaseAnthropic } from "@anthropic-ai/sdk";
import { standardFetch } from "../../platform/http/http-fetch.ts";
import { anthropic, deploymentAt } from "../deployments.ts";
import type { AnthropicMessagesBody } from "./anthropic-messages-request.ts";
import type { Endpoint } from "./wire.ts";

/** The SDK's limit for the first byte. The caller watches for idle streams. */
const REQUEST_TIMEOUT_MS = 3_600_000;
/** Placeholder that is never sent. Without it the SDK would search the environment and the disk for a key. */
const NO_KEY = "none";

/** Version of the SDK's types. */
const API_VERSION = "2026-10-21";
/** Version for compatible endpoints. It covers everything that we send. */
const COMPATIBLE_VERSION = "2023-06-01";

/** Sends the request. Throws the SDK's errors, also for statuses from 400 on. */
export function postMessages(endpoint: Endpoint, body: AnthropicMessagesBody, signal: AbortSignal): Promise<Response> {
  const client = new BaseAnthropic({
    apiKey: endpoint.apiKey ?? NO_KEY,
    // Users write addresses with and without the version. Null keeps the SDK from reading the environment.
    baseURL: endpoint.baseUrl?.replace(/\/v1\/?$/, "") ?? null,
    webhookKey: null,
    openTelemetry: false,
    maxRetries: 0,
    timeout: REQUEST_TIMEOUT_MS,
    logLevel: "off",
    fetch: (url, init) => standardFetch(url, { ...init, headers: headersFor(endpoint) }),
  });
  // Not `messages.create`, which prints warnings about models to the console.
  return client.post("/v1/messages", { body, signal, stream: true }).asResponse();
}

/**
 * All headers. The SDK would add some from the environment, which may belong to another provider. Anthropic reads
 * `x-api-key`; some compatible endpoints read a bearer token instead.
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
