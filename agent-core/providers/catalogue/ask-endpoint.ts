/** One JSON request to a model endpoint, with its key. Errors become faults. */
import { classify } from "../classify.ts";
import type { Fault } from "../fault.ts";
import type { ApiMode, Endpoint } from "../wire/wire.ts";

export type EndpointAnswer =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly fault: Fault };

export type Place = { readonly mode: ApiMode; readonly endpoint: Endpoint };

/** Version header of Anthropic's API. */
const ANTHROPIC_VERSION = "2023-06-01";
/** Size limit of a response; a list of models is much shorter. Bytes. */
const MAX_BYTES = 16_777_216;

/** Sends GET, or POST with `body`. Redirects are refused, because the key belongs to this address only. */
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
    if (!response.ok) throw Object.assign(new Error(errorText(text)), { status: response.status });
    return { ok: true, body: JSON.parse(text) };
  } catch (error) {
    return { ok: false, fault: classify(error, { endpoint, model: "its models" }) };
  }
}

/** URL of the endpoint's list of models. */
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

/** The error message of a JSON body, or the whole text. */
function errorText(text: string): string {
  const [, message] = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  return message ?? text;
}
