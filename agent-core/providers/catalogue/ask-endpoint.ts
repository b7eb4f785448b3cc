/** One look-up at a model endpoint: JSON in, JSON out, with its key, and what went wrong as a fault. */
import { classify } from "../classify.ts";
import type { Fault } from "../fault.ts";
import type { ApiMode, Endpoint } from "../wire/wire.ts";

export type EndpointAnswer =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly fault: Fault };

export type Place = { readonly mode: ApiMode; readonly endpoint: Endpoint };

/** The version that Anthropic's API wants to be told. */
const ANTHROPIC_VERSION = "2023-06-01";
/** A list of models is never this long. Bytes. */
const MAX_BYTES = 16_777_216;

/** GETs `url`, or POSTs `body` to it. Redirects are not followed: a key stays with the address it was given for. */
export async function askEndpoint(
  { mode, endpoint }: Place,
  url: string,
  { signal, body }: { readonly signal: AbortSignal; readonly body?: unknown },
): Promise<EndpointAnswer> {
  try {
    const response = await fetch(url, {
      method: body === undefined ? "GET" : "POST",
      headers: { accept: "application/json", "content-type": "application/json", ...keyHeaders(mode, endpoint) },
      redirect: "error",
      signal,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await readBounded(response);
    if (!response.ok) throw Object.assign(new Error(wordsOf(text)), { status: response.status });
    return { ok: true, body: JSON.parse(text) };
  } catch (error) {
    return { ok: false, fault: classify(error, { endpoint, model: "its models" }) };
  }
}

/** Where the endpoint lists its models. */
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

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new SyntaxError(`an answer of more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** An error's own message, where its body is the usual JSON. */
function wordsOf(text: string): string {
  const [, message] = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  return message ?? text;
}
