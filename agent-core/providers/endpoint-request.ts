/**
 * One HTTP request to a model endpoint, with its key. The vendors' libraries are not used for that: their first request
 * takes 60 ms and 20 MB, and each has its own rules for keys, errors and the environment.
 */
import { ACCOUNT } from "../config/home.ts";
import { httpFetch } from "../platform/http/http-fetch.ts";
import type { HttpHeaders, HttpResponse } from "../platform/http/http-response.ts";
import { parseJson } from "../platform/json.ts";
import { anthropic, deploymentAt, llamacpp } from "./deployments.ts";
import type { ApiMode, Endpoint } from "./wire/wire.ts";

export type Place = { readonly mode: ApiMode; readonly endpoint: Endpoint };

/** Version of Anthropic's API that its library sends. */
const ANTHROPIC_VERSION = "2026-10-21";
/** Version for compatible endpoints. It covers everything that we send. */
const COMPATIBLE_VERSION = "2023-06-01";

/** Response with a status from 400 on. `message` is the text of a body that is no JSON. */
export class ProviderError extends Error {
  readonly status: number;
  readonly headers: Pick<HttpHeaders, "get" | "entries">;
  /** The body as JSON; undefined for any other. */
  readonly error: unknown;
  /** Names of the parameters that the request had. */
  readonly sent: readonly string[];

  constructor({ status, headers }: Pick<HttpResponse, "status" | "headers">, body: string, request: object = {}) {
    const error = parseJson(body);
    super(error === undefined ? body.trim() : "");
    this.sent = Object.keys(request);
    this.status = status;
    this.headers = headers;
    this.error = error;
  }
}

/** Sends GET, or POST with `body`. Rejects with a ProviderError, or with the error of the connection. */
export async function requestEndpoint(
  { mode, endpoint: described }: Place,
  url: string,
  { signal, body }: { readonly signal: AbortSignal; readonly body?: object },
): Promise<HttpResponse> {
  const isAccount = described.apiKey?.startsWith(ACCOUNT) === true;
  const endpoint = isAccount ? await withToken(described, signal) : described;
  const ask = async (at: string): Promise<HttpResponse> => {
    const response = await httpFetch(at, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...(mode === "anthropic_messages" ? anthropicHeaders(endpoint) : keyHeader(endpoint)),
      },
      signal,
      ...(body !== undefined && { body: bodyBytes(body) }),
    });
    if (response.status < 400) ANSWERED.set(url, at);
    return response;
  };
  const versioned = url.replace(/^\w+:\/\/[^/]+/, "$&/v1");
  const [first, second] = ANSWERED.get(url) === versioned ? [versioned, url] : [url, versioned];
  const response = await ask(first);
  if (response.status < 400) return response;
  const answer = await response.text();
  const refusal = new ProviderError(response, answer, body);
  if (response.status !== 404 || !UNVERSIONED.test(new URL(url).pathname)) throw refusal;
  const other = await ask(second);
  if (other.status < 400) return other;
  const further = new ProviderError(other, await other.text(), body);
  // An address that answered before, or knows models, is the right one. A gate may refuse all requests below the other.
  const isRight = ANSWERED.has(url) || /\bmodel\b/i.test(answer);
  throw isRight || other.status === 404 || other.status === 405 ? refusal : further;
}

/** Path of an API right below the host. Most servers have it below `/v1`, which users leave out. */
const UNVERSIONED = /^\/(?:chat\/completions|responses|models)$/;
/** The addresses that answered last, with the version or without it, by those without. */
const ANSWERED = new Map<string, string>();

/** The key is a reference to an account, whose token changes. */
async function withToken(endpoint: Endpoint, signal: AbortSignal): Promise<Endpoint> {
  const { portalToken } = await import("./accounts/nous-portal.ts");
  const home = (endpoint.apiKey ?? "").slice(ACCOUNT.length);
  return { ...endpoint, apiKey: await portalToken({ home, signal }) };
}

/** JSON of the items in a body's lists, each with a comma. A session sends the same messages and tools with each of its requests. */
const itemBytes = new WeakMap<object, Buffer>();

/** The bytes of `JSON.stringify`, with each item of a list converted once. */
export function bodyBytes(body: object): Buffer {
  const fields = Object.entries(body).filter(([, value]) => value !== undefined);
  const parts = fields.flatMap(([name, value], index) => {
    const head = Buffer.from(`${index === 0 ? "{" : ","}${JSON.stringify(name)}:`);
    return Array.isArray(value) ? [head, ...listBytes(value)] : [head, Buffer.from(JSON.stringify(value))];
  });
  return Buffer.concat([...(parts.length === 0 ? [Buffer.from("{")] : parts), Buffer.from("}")]);
}

function listBytes(items: readonly unknown[]): readonly Buffer[] {
  const bytes = items.map(cachedBytes);
  const last = bytes.pop();
  return [Buffer.from("["), ...bytes, ...(last === undefined ? [] : [last.subarray(0, -1)]), Buffer.from("]")];
}

function cachedBytes(item: unknown): Buffer {
  if (typeof item !== "object" || item === null) return Buffer.from(`${JSON.stringify(item ?? null)},`);
  let bytes = itemBytes.get(item);
  if (bytes === undefined) {
    bytes = Buffer.from(`${JSON.stringify(item)},`);
    itemBytes.set(item, bytes);
  }
  return bytes;
}

/**
 * Address of a path in the endpoint's API. Users write Anthropic's base URL with and without the version, and that of
 * a known server without its path.
 */
export function endpointUrl({ mode, endpoint: { baseUrl = "" } }: Place, path: string): string {
  // Azure's address names the version of the API after its path.
  const [address = "", ...queries] = baseUrl.split("?");
  const base = address.replace(/\/+$/, "");
  const end = [path, ...queries].join("?");
  if (mode === "anthropic_messages") return `${base.replace(/\/v1$/, "")}/v1${end}`;
  const known = deploymentAt(base);
  // llama.cpp answers without its path, too, and other servers use its port.
  if (known.baseUrl === undefined || known === llamacpp) return `${base}${end}`;
  const { origin, pathname } = new URL(base);
  if (pathname !== "/" && pathname !== "/api") return `${base}${end}`;
  return `${origin}${new URL(known.baseUrl).pathname.replace(/\/$/, "")}${end}`;
}

/** Azure reads its own header. */
function keyHeader({ apiKey, baseUrl = "" }: Endpoint): Readonly<Record<string, string>> {
  if (apiKey === undefined) return {};
  const isAzure = /\.azure(?:-api)?\.(?:com|net|cn|us)(?:[:/]|$)/.test(baseUrl);
  return { authorization: `Bearer ${apiKey}`, ...(isAzure && { "api-key": apiKey }) };
}

/** Anthropic reads `x-api-key`; some compatible endpoints read a bearer token instead. */
function anthropicHeaders(endpoint: Endpoint): Readonly<Record<string, string>> {
  const { baseUrl = "", apiKey } = endpoint;
  const isOwn = deploymentAt(baseUrl) === anthropic;
  return {
    "anthropic-version": isOwn ? ANTHROPIC_VERSION : COMPATIBLE_VERSION,
    ...(apiKey !== undefined && { "x-api-key": apiKey }),
    ...(!isOwn && keyHeader(endpoint)),
  };
}
