/** OpenAI's chat completions, and every endpoint that speaks them. */
import type { OpenAI } from "openai";
import { quirksOf } from "../deployment/deployments.ts";
import { finishFold, startFold, step } from "./chat-completions-fold.ts";
import { chatCompletionsBody } from "./chat-completions-request.ts";
import { defineWire, type Endpoint, type ModelEvent, type ModelRequest } from "./wire.ts";

/** The library's own limit until the answer begins; whoever called watches for silence. */
const REQUEST_TIMEOUT_MS = 3_600_000;
/** The library refuses to work without a key; it is not sent. */
const NO_KEY = "none";

export const wire = defineWire({ mode: "chat_completions", stream });

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const client = await clientFor(request.endpoint);
  const body = chatCompletionsBody(request, quirksOf(request.endpoint));
  const { data, response } = await client.chat.completions.create(body, { signal }).withResponse();
  let state = startFold(request.messages);
  for await (const chunk of chunksOf(data, response)) {
    const { state: next, events } = step(state, chunk);
    state = next;
    yield* events;
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

/** A server or proxy that does not stream answers with one document, which is one chunk; a web page is a wrong address. */
function chunksOf(stream: AsyncIterable<unknown>, response: Response): AsyncIterable<unknown> {
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("text/html")) throw new SyntaxError("a web page instead of a stream; is the base URL right?");
  return type.includes("application/json") ? wholeDocument(response) : stream;
}

async function* wholeDocument(response: Response): AsyncGenerator<unknown> {
  yield await response.json();
}
