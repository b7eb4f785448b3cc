/**
 * Fetch of a URL from the model: checked addresses at each redirect, a connection to exactly these addresses, and limits
 * of bytes, time and redirects.
 */
import { messageOf } from "../platform/errors.ts";
import { httpFetch } from "../platform/http/http-fetch.ts";
import type { HttpResponse } from "../platform/http/http-response.ts";
import { type AddressGuard, checkUrl, pinned } from "./address-guard.ts";

/** Redirects of one fetch. Shorteners and consent pages need three or four. */
const MAX_REDIRECTS = 5;
/** Size of a body after decompression: a long PDF has some megabytes. Bytes. */
const MAX_BYTES = 10_000_000;
/** Time of one fetch with its redirects. Milliseconds. */
const MAX_MS = 30_000;
/** Some servers refuse clients that name no browser. */
const USER_AGENT = "Mozilla/5.0 (compatible; hermes)";

export type FetchOptions = {
  readonly guard: AddressGuard;
  readonly signal: AbortSignal;
  /** Value of the header `accept`. Default: any type. */
  readonly accept?: string;
  readonly maxBytes?: number;
  readonly maxMs?: number;
};

export type Fetched =
  | {
      readonly ok: true;
      /** Address after the redirects. */
      readonly url: string;
      /** Value of the header `content-type`; empty without one. */
      readonly contentType: string;
      readonly bytes: Buffer;
    }
  | { readonly ok: false; readonly text: string };

/** Fails with one line for people and for the model. Rejects only with the reason of `signal`. */
export async function guardedFetch(address: string, options: FetchOptions): Promise<Fetched> {
  const { signal, maxMs = MAX_MS } = options;
  const timeout = AbortSignal.timeout(maxMs);
  try {
    return await fetchWithin(address, options, AbortSignal.any([signal, timeout]));
  } catch (error) {
    signal.throwIfAborted();
    const reason = timeout.aborted ? `it took longer than ${maxMs / 1_000} s` : messageOf(error);
    return { ok: false, text: `${address.slice(0, 200)} could not be fetched: ${reason}.` };
  }
}

async function fetchWithin(start: string, options: FetchOptions, signal: AbortSignal): Promise<Fetched> {
  let address: string | URL = start;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const checked = await checkUrl(address, options.guard, signal);
    if (!checked.ok) return redirects === 0 ? checked : { ok: false, text: `${start} redirects. ${checked.text}` };
    const response = await httpFetch(checked.url, {
      headers: { accept: options.accept ?? "*/*", "user-agent": USER_AGENT },
      signal,
      redirect: "manual",
      lookup: pinned(checked.addresses),
    });
    const location = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
    if (location === null) return await received(checked.url, response, options.maxBytes ?? MAX_BYTES);
    await response.body.cancel();
    if (!URL.canParse(location, checked.url.href)) {
      return { ok: false, text: `${checked.url.href} redirects to ${JSON.stringify(location.slice(0, 100))}, no URL.` };
    }
    address = new URL(location, checked.url);
  }
  return { ok: false, text: `${start} redirects more than ${MAX_REDIRECTS} times.` };
}

async function received(url: URL, response: HttpResponse, maxBytes: number): Promise<Fetched> {
  if (!response.ok) {
    await response.body.cancel();
    return { ok: false, text: `${url.href} answered ${response.status} ${response.statusText}`.trimEnd().concat(".") };
  }
  const declared = Number(response.headers.get("content-length") ?? 0);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const isTooLarge = (): boolean => declared > maxBytes || bytes > maxBytes;
  const reader = response.body.getReader();
  while (!isTooLarge()) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    chunks.push(value);
  }
  if (isTooLarge()) {
    await reader.cancel();
    return { ok: false, text: `${url.href} is larger than the limit of ${maxBytes} bytes.` };
  }
  const contentType = response.headers.get("content-type") ?? "";
  return { ok: true, url: url.href, contentType, bytes: Buffer.concat(chunks, bytes) };
}
