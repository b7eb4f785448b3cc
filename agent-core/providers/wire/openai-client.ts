/** The `openai` library for one endpoint: nothing from the process's environment, no retries of its own. */
import type { OpenAI } from "openai";
import type { Endpoint } from "./wire.ts";

/** The library's own limit until the answer begins; whoever called watches for silence. */
const REQUEST_TIMEOUT_MS = 3_600_000;
/** The library refuses to work without a key; it is not sent. */
const NO_KEY = "none";

/** Making one takes as long as a small request; the last one is used again as long as the endpoint stays. */
let last: { readonly endpoint: Endpoint; readonly client: OpenAI } | undefined;

export async function openaiClient(endpoint: Endpoint): Promise<OpenAI> {
  if (last !== undefined && isSame(last.endpoint, endpoint)) return last.client;
  const client = await newClient(endpoint);
  last = { endpoint, client };
  return client;
}

/** Loads the library, and sends a request through it that reaches no network: its first one takes ten times as long. */
export async function warmUpOpenai(endpoint: Endpoint): Promise<void> {
  const client = (await openaiClient(endpoint)).withOptions({ fetch: () => fetch("data:,") });
  await client.chat.completions.create({ model: "", messages: [], stream: true }).asResponse();
}

async function newClient({ baseUrl, apiKey }: Endpoint): Promise<OpenAI> {
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

function isSame(first: Endpoint, second: Endpoint): boolean {
  return first.baseUrl === second.baseUrl && first.apiKey === second.apiKey;
}
