/** Anthropic's Messages API, and the endpoints that are compatible with it. */
import type { Anthropic } from "@anthropic-ai/sdk";
import { anthropic } from "../deployment/anthropic.ts";
import { deploymentAt } from "../deployment/deployments.ts";
import { type FoldState, finishFold, startFold, step } from "./anthropic-messages-fold.ts";
import { anthropicMessagesBody } from "./anthropic-messages-request.ts";
import { joinDeltas } from "./join-deltas.ts";
import { omitParameters } from "./omit-parameters.ts";
import { readServerSentEvents } from "./server-sent-events.ts";
import { defineWire, type Endpoint, type ModelEvent, type ModelRequest } from "./wire.ts";

/** The library's own limit until the answer begins; whoever called watches for silence. */
const REQUEST_TIMEOUT_MS = 3_600_000;
/** Without any key the library would look for one in the environment and on disk; it is not sent. */
const NO_KEY = "none";

/** The version that the library's types describe. */
const API_VERSION = "2026-10-21";

/** Some compatible endpoints end with it, as OpenAI does; it means nothing here. */
const DONE = "[DONE]";
/** Quotes within a string are escaped, so this is never part of an answer's text. */
const LAST_EVENT = /"type"\s*:\s*"message_stop"/;

export const wire = defineWire({ mode: "anthropic_messages", stream });

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const client = await clientFor(request.endpoint);
  const body = omitParameters(anthropicMessagesBody(request), request);
  // Not `messages.create`: it writes warnings about models to the console.
  const response = await client.post("/v1/messages", { body, signal, stream: true }).asResponse();
  let state: FoldState = startFold(request.messages);
  for await (const batch of eventsOf(response)) {
    const events: ModelEvent[] = [];
    try {
      for (const data of batch) {
        if (state.isOver || data === DONE) continue;
        const next = step(state, JSON.parse(data));
        state = next.state;
        events.push(...next.events);
      }
      if (events.length === 0) yield { type: "alive" };
    } finally {
      // Also what came before an event that cannot be read.
      yield* joinDeltas(events);
    }
  }
  yield* finishFold(state);
}

async function clientFor(endpoint: Endpoint): Promise<Anthropic> {
  // Loaded on first use: start-up must not pay for a library that this session may never need.
  const library = await import("@anthropic-ai/sdk");
  return new library.Anthropic({
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
    "anthropic-version": API_VERSION,
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

/** A server or proxy that does not stream gives one document; a web page is a wrong address. */
async function* eventsOf(response: Response): AsyncGenerator<readonly string[]> {
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("text/html")) throw new SyntaxError("a web page instead of a stream; is the base URL right?");
  if (type.includes("application/json")) yield [await response.text()];
  else if (response.body !== null) yield* readServerSentEvents(response.body, (data) => LAST_EVENT.test(data));
}
