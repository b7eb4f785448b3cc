/**
 * The only function that sends requests to other machines. It has the form of `fetch`. It goes through the user's proxy,
 * trusts the user's certificates, and never carries a request to another origin.
 */
import type { ClientRequest, IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { type Connections, connections, type Route } from "./connections.ts";
import { HttpResponse } from "./http-response.ts";
import {
  CONNECT_TIMEOUT_MS,
  connectTimeoutError,
  PROXY_AUTHENTICATION_REQUIRED,
  proxyName,
  proxyRefusal,
  proxyUnreachable,
} from "./network-settings.ts";

export type HttpInit = {
  /** Default GET. */
  readonly method?: string | undefined;
  readonly headers?: Iterable<readonly [string, string]> | Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | null | undefined;
  /** Returns a redirect as the response, also one to another origin: the caller decides. */
  readonly redirect?: "manual" | undefined;
  /** Resolves the name for a direct connection, which no other request shares. Not called for an IP address. */
  readonly lookup?: LookupFunction | undefined;
};

/** Redirects within an origin, such as a missing slash. */
const MAX_REDIRECTS = 3;
/** Size limit of a response's headers: four times Node's own, for gateways that add long ones. Bytes. */
const MAX_HEADER_BYTES = 65_536;
/** Encodings of a response that are decoded. */
const ENCODINGS = "gzip, deflate, br";

/**
 * Rejects with the connection's error, which has a `code`; with the signal's reason after an abort; and with an error
 * that names both places when the server redirects to another origin. An abort during the body ends its stream.
 */
export async function httpFetch(input: string | URL, init: HttpInit = {}): Promise<HttpResponse> {
  init.signal?.throwIfAborted();
  const headers = { "accept-encoding": ENCODINGS, "user-agent": "hermes", ...plainHeaders(init.headers) };
  let url = new URL(input);
  for (let redirects = 0; ; redirects += 1) {
    const response = await sendOrRetry(url, { ...init, headers });
    const { statusCode = 0 } = response;
    const isRedirect = init.redirect !== "manual" && [301, 302, 303, 307, 308].includes(statusCode);
    const location = isRedirect ? response.headers.location : undefined;
    if (location === undefined) return new HttpResponse(response, url, await decoded(response));
    response.destroy();
    if (redirects === MAX_REDIRECTS) throw refusedRedirect(`${url.origin} redirects more than ${MAX_REDIRECTS} times`);
    url = redirected(url, location, { status: response.statusCode, method: init.method });
  }
}

type Sent = HttpInit & { readonly headers: Readonly<Record<string, string>> };

/** A second attempt is for a connection that the server closed while it was idle, and for the system's certificates. */
async function sendOrRetry(url: URL, init: Sent): Promise<IncomingMessage> {
  const pools = connections();
  try {
    return await send(pools, url, init);
  } catch (error) {
    if (init.signal?.aborted || !(error instanceof Dropped || (await pools.trustSystem(error)))) throw reasonOf(error);
    return send(pools, url, init).catch((again: unknown) => Promise.reject(reasonOf(again)));
  }
}

/** A kept connection ended before it answered. */
class Dropped extends Error {}

function reasonOf(error: unknown): unknown {
  return error instanceof Dropped ? error.cause : error;
}

async function send(pools: Connections, url: URL, init: Sent): Promise<IncomingMessage> {
  const route = await pools.route(url, init.lookup);
  init.signal?.throwIfAborted();
  const response = await exchange(route, url, init);
  if (route.proxy !== undefined && response.statusCode === PROXY_AUTHENTICATION_REQUIRED) {
    response.destroy();
    throw proxyRefusal(route.proxy, PROXY_AUTHENTICATION_REQUIRED, "");
  }
  return response;
}

function exchange({ request, options, proxy }: Route, url: URL, init: Sent): Promise<IncomingMessage> {
  const { method = "GET", headers, body, signal } = init;
  return new Promise((resolve, reject) => {
    const sent = request({
      ...options,
      method: method.toUpperCase(),
      headers: { ...headers, ...options.headers },
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    const connecting = limitConnecting(sent, proxy === undefined ? url.origin : proxyName(proxy));
    let received: IncomingMessage | undefined;
    const onAbort = (): void => {
      const reason: unknown = signal?.reason;
      (received ?? sent).destroy(reason instanceof Error ? reason : new Error(String(reason)));
    };
    // The same signal serves many requests of a session.
    const release = (): void => signal?.removeEventListener("abort", onAbort);
    sent.on("error", (error: NodeJS.ErrnoException) => {
      const isConnected = connecting.end();
      release();
      if (signal?.aborted) reject(signal.reason);
      else if (sent.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(error.code ?? "")) {
        reject(new Dropped("a kept connection ended", { cause: error }));
      } else reject(proxy === undefined || isConnected ? described(error) : proxyUnreachable(proxy, error));
    });
    sent.once("response", (response) => {
      connecting.end();
      received = response.once("close", release);
      resolve(response);
    });
    signal?.addEventListener("abort", onAbort, { once: true });
    // Node converts a long string twice as slowly.
    sent.end(typeof body === "string" ? Buffer.from(body) : body);
  });
}

/** Ends a request that has no connection in time. `end` lifts the limit, and returns true when there is a connection. */
function limitConnecting(sent: ClientRequest, place: string): { end(): boolean } {
  const timer = setTimeout(() => sent.destroy(connectTimeoutError(place)), CONNECT_TIMEOUT_MS);
  let isConnected = false;
  const connected = (): void => {
    isConnected = true;
    clearTimeout(timer);
  };
  sent.once("socket", (socket) => {
    if (sent.reusedSocket) connected();
    else socket.once("encrypted" in socket ? "secureConnect" : "connect", connected);
  });
  return {
    end: () => {
      clearTimeout(timer);
      return isConnected;
    },
  };
}

/** Node gives one error for all addresses of a host, without words. */
function described(error: NodeJS.ErrnoException): Error {
  const first = error instanceof AggregateError ? error.errors[0] : undefined;
  return error.message === "" && first instanceof Error ? first : error;
}

function plainHeaders(headers: HttpInit["headers"] = {}): Readonly<Record<string, string>> {
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}

type Redirect = { readonly status: number | undefined; readonly method: string | undefined };

/** Throws for another origin, since key and conversation are meant for this one only, and for a redirect without the body. */
function redirected(from: URL, location: string, { status, method = "GET" }: Redirect): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  const keepsRequest = status === 307 || status === 308 || method.toUpperCase() === "GET";
  if (to !== undefined && to.origin === from.origin && keepsRequest) return to;
  const place = to === undefined ? JSON.stringify(location) : `${to.origin}${to.pathname}`;
  throw refusedRedirect(`${from.origin} redirects to ${place}; if you trust that place, make it the base URL`);
}

function refusedRedirect(message: string): Error {
  return Object.assign(new Error(message), { code: "ERR_REDIRECT" });
}

/** The body without its encoding. The libraries for that are loaded for the first encoded response. */
async function decoded(response: IncomingMessage): Promise<Readable> {
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") return response;
  const { pipeline } = await import("node:stream");
  // Errors reach the reader through the decoder.
  const decoder = await decoderFor(encoding);
  return decoder === undefined ? response : pipeline(response, decoder, () => undefined);
}

/** Passes a stream's parts on as they arrive; a missing end is not an error. Undefined for an unknown encoding. */
async function decoderFor(encoding: string): Promise<Duplex | undefined> {
  const { constants, createBrotliDecompress, createUnzip } = await import("node:zlib");
  switch (encoding) {
    case "gzip":
    case "x-gzip":
    case "deflate":
      return createUnzip({ flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH });
    case "br":
      return createBrotliDecompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
      });
    default:
      return undefined;
  }
}
