/** OpenAI's library as the two wires of its APIs use it: it builds and sends the request, we read what comes back. */
import type { OpenAI } from "openai";
import { readServerSentEvents } from "./server-sent-events.ts";
import type { Endpoint } from "./wire.ts";

/** The library's own limit until the answer begins; whoever called watches for silence. */
const REQUEST_TIMEOUT_MS = 3_600_000;
/** The library refuses to work without a key; it is not sent. */
const NO_KEY = "none";

/** Data of an event that says only that the stream is over. */
export const DONE = "[DONE]";

export async function openAiClient({ baseUrl, apiKey }: Endpoint): Promise<OpenAI> {
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

/**
 * Data of the response's events, as many at once as a packet brought; `isLast` as in `readServerSentEvents`. A server or
 * proxy that does not stream gives one document, which is one event. Throws at a web page: that is a wrong address.
 */
export async function* responseEvents(
  response: Response,
  isLast: (data: string) => boolean,
): AsyncGenerator<readonly string[]> {
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("text/html")) throw new SyntaxError("a web page instead of a stream; is the base URL right?");
  if (type.includes("application/json")) yield [await response.text()];
  else if (response.body !== null) yield* readServerSentEvents(response.body, isLast);
}
