/** The `openai` SDK for one endpoint, without values from the environment and without retries. */
import type { OpenAI } from "openai";
import { standardFetch } from "../../platform/http/http-fetch.ts";
import type { Endpoint } from "./wire.ts";

/** The SDK's limit for the first byte. The caller watches for idle streams. */
const REQUEST_TIMEOUT_MS = 3_600_000;
/** Placeholder that is never sent. The SDK requires a key. */
const NO_KEY = "none";

/** A new client costs as much time as a small request, so the last one is reused for the same endpoint. */
let last: { readonly endpoint: Endpoint; readonly client: OpenAI } | undefined;

export async function openaiClient(endpoint: Endpoint): Promise<OpenAI> {
  if (last !== undefined && isSame(last.endpoint, endpoint)) return last.client;
  const client = await newClient(endpoint);
  last = { endpoint, client };
  return client;
}

/** Loads the library, and makes a request with it that is never sent: its first one takes ten times as long. */
export async function warmUpOpenai(endpoint: Endpoint): Promise<void> {
  const client = (await openaiClient(endpoint)).withOptions({ fetch: () => Promise.reject(new Error("a warm-up")) });
  await client.chat.completions.create({ model: "", messages: [], stream: true }).catch(() => undefined);
}

async function newClient({ baseUrl, apiKey }: Endpoint): Promise<OpenAI> {
  // Loaded on first use, because many sessions never need the SDK.
  const library = await import("openai");
  /** The SDK keeps a body only if it has an object `error`. This client keeps any, for error-details.ts. */
  class Client extends library.OpenAI {
    protected override makeStatusError(status: number, body: object, message: string | undefined, headers: Headers) {
      const isKnown = "error" in Object(body) && typeof Object(body).error === "object";
      return super.makeStatusError(status, isKnown || !body ? body : { error: body }, message, headers);
    }
  }
  return new Client({
    apiKey: apiKey ?? NO_KEY,
    baseURL: baseUrl ?? null,
    // Null keeps the SDK from reading the environment, which may belong to another provider.
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: REQUEST_TIMEOUT_MS,
    fetch: standardFetch,
    logLevel: "off",
    ...(apiKey === undefined && { defaultHeaders: { authorization: null } }),
  });
}

function isSame(first: Endpoint, second: Endpoint): boolean {
  return first.baseUrl === second.baseUrl && first.apiKey === second.apiKey;
}
