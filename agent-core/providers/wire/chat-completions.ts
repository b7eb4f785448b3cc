/** OpenAI's chat completions, and every endpoint that speaks them. */
import { ChatCompletionsFold } from "./chat-completions-fold.ts";
import { chatCompletionsBody } from "./chat-completions-request.ts";
import { defineWire, type ModelEvent, type ModelRequest } from "./wire.ts";

/** The library's own limit; silence is watched by whoever called. */
const REQUEST_TIMEOUT_MS = 3_600_000;

export const wire = defineWire({ mode: "chat_completions", stream });

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  // Loaded on first use: start-up must not pay for a library that this session may never need.
  const { OpenAI } = await import("openai");
  const client = new OpenAI({
    apiKey: request.endpoint.apiKey ?? "",
    baseURL: request.endpoint.baseUrl ?? null,
    maxRetries: 0,
    timeout: REQUEST_TIMEOUT_MS,
    logLevel: "off",
  });
  const chunks = await client.chat.completions.create(chatCompletionsBody(request), { signal });
  const fold = new ChatCompletionsFold();
  for await (const chunk of chunks) yield* fold.step(chunk);
  const last = fold.end();
  if (last !== undefined) yield last;
}
