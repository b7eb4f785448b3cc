/** OpenAI's chat completions, and every endpoint that speaks them. */
import type { OpenAI } from "openai";
import { quirksOf } from "../deployment/deployments.ts";
import { type FoldState, finishFold, startFold, step, streamDone } from "./chat-completions-fold.ts";
import { chatCompletionsBody } from "./chat-completions-request.ts";
import { joinDeltas } from "./join-deltas.ts";
import { omitParameters } from "./omit-parameters.ts";
import { readServerSentEvents } from "./server-sent-events.ts";
import { defineWire, type Endpoint, type ModelEvent, type ModelRequest } from "./wire.ts";

/** The library's own limit until the answer begins; whoever called watches for silence. */
const REQUEST_TIMEOUT_MS = 3_600_000;
/** The library refuses to work without a key; it is not sent. */
const NO_KEY = "none";

/** Data of the last event. */
const DONE = "[DONE]";

export const wire = defineWire({ mode: "chat_completions", stream });

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const client = await clientFor(request.endpoint);
  const body = omitParameters(chatCompletionsBody(request, quirksOf(request.endpoint)), request);
  const response = await client.chat.completions.create(body, { signal }).asResponse();
  let state: FoldState = startFold(request.messages);
  for await (const batch of chunksOf(response)) {
    if (batch.length === 0) yield { type: "alive" };
    const events: ModelEvent[] = [];
    try {
      for (const data of batch) {
        const next = data === DONE ? streamDone(state) : step(state, JSON.parse(data));
        state = next.state;
        events.push(...next.events);
      }
    } finally {
      // Also what came before an event that cannot be read.
      yield* joinDeltas(events);
    }
  }
  yield* finishFold(state);
}

async function clientFor({ baseUrl, apiKey }: Endpoint): Promise<OpenAI> {
  // Loaded on first use: start-up must not pay for a library that this session may never need.
  const library = await import("openai");
  return new library.OpenAI({
    apiKey: apiKey ?? NO_KEY,
    baseURL: baseUrl ?? null,
    // Null: never from the process's environment, which may be about another provider.
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: REQUEST_TIMEOUT_MS,
    logLevel: "off",
    ...(apiKey === undefined && { defaultHeaders: { authorization: null } }),
  });
}

/** A server or proxy that does not stream gives one document, which is one chunk; a web page is a wrong address. */
async function* chunksOf(response: Response): AsyncGenerator<readonly string[]> {
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("text/html")) throw new SyntaxError("a web page instead of a stream; is the base URL right?");
  if (type.includes("application/json")) yield [await response.text()];
  else if (response.body !== null) yield* readServerSentEvents(response.body, (data) => data === DONE);
}
