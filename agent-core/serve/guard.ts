/** Checks of a request before it reaches the protocol: its Host, its Origin, its address and its token. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { hostname } from "node:os";

/** Wrong tokens of an address in this time. Then none of its tokens is checked. */
const MAX_WRONG_TOKENS = 10;
const MINUTE_MS = 60_000;
/** Addresses with wrong tokens that are remembered. */
const MAX_ADDRESSES = 10_000;

export type Refusal = {
  readonly status: 400 | 401 | 403 | 429;
  /** Sentence for people. */
  readonly reason: string;
};

export type GuardOptions = {
  /** The current token: a file may have a new one. */
  readonly token: () => string;
  /** Origins of pages that may connect: `https://app.example`. */
  readonly origins: readonly string[];
  /** True for a name of this server beside its own, as its certificate has it. */
  readonly isOwnName: (name: string) => boolean;
  /** A proxy in front says in `X-Forwarded-For` who asks. */
  readonly trustsProxy: boolean;
  /** Milliseconds. */
  readonly now: () => number;
};

export class Guard {
  readonly #options: GuardOptions;
  readonly #origins: ReadonlySet<string>;
  readonly #names: ReadonlySet<string>;
  /** Times of wrong tokens. */
  readonly #wrong = new Map<string, number[]>();

  constructor(options: GuardOptions) {
    this.#options = options;
    const urls = options.origins.map((origin) => new URL(origin));
    this.#origins = new Set(urls.map(({ origin }) => origin));
    this.#names = new Set(["localhost", hostname().toLowerCase(), ...urls.map((url) => url.hostname)]);
  }

  /** Undefined for a request of a known host, with the token. */
  check(request: IncomingMessage): Refusal | undefined {
    return this.checkPlace(request) ?? this.#checkToken(request);
  }

  /** Check of a request that needs no token. */
  checkPlace({ headers, url = "" }: IncomingMessage): Refusal | undefined {
    if (!this.#isOwnHost(headers.host)) return { status: 403, reason: FOREIGN_HOST };
    const { origin } = headers;
    if (origin !== undefined && !this.#origins.has(origin)) return { status: 403, reason: FOREIGN_ORIGIN };
    return url.includes("?") ? { status: 400, reason: WITH_QUERY } : undefined;
  }

  /** A page that rebinds its own name to this machine sends that name; an address cannot be rebound. */
  #isOwnHost(host = ""): boolean {
    if (!URL.canParse(`http://${host}`)) return false;
    const name = new URL(`http://${host}`).hostname.toLowerCase();
    return isIP(name.replace(/^\[|\]$/g, "")) !== 0 || this.#names.has(name) || this.#options.isOwnName(name);
  }

  #checkToken(request: IncomingMessage): Refusal | undefined {
    const [, given] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
    if (given === undefined) return { status: 401, reason: NO_TOKEN };
    const address = this.#addressOf(request);
    const since = this.#options.now() - MINUTE_MS;
    const recent = (this.#wrong.get(address) ?? []).filter((time) => time > since);
    if (recent.length >= MAX_WRONG_TOKENS) return { status: 429, reason: TOO_MANY };
    if (isSame(given, this.#options.token())) return undefined;
    this.#wrong.delete(address);
    this.#wrong.set(address, [...recent, this.#options.now()]);
    const [oldest] = this.#wrong.keys();
    if (this.#wrong.size > MAX_ADDRESSES && oldest !== undefined) this.#wrong.delete(oldest);
    return { status: 401, reason: WRONG_TOKEN };
  }

  /** The proxy appends the address that it sees itself. */
  #addressOf({ headers, socket }: IncomingMessage): string {
    const forwarded = String(headers["x-forwarded-for"] ?? "").split(",");
    const seen = this.#options.trustsProxy ? forwarded.at(-1)?.trim() : "";
    return seen || (socket.remoteAddress ?? "");
  }
}

const FOREIGN_HOST =
  "The Host header is not a name of this server. Start it with --allow-origin and its public address.";
const FOREIGN_ORIGIN = "Pages of this origin may not connect. Start the server with --allow-origin and the origin.";
const WITH_QUERY = "The address has a query. Send the token in the header Authorization: Bearer.";
const NO_TOKEN = "A token is missing: send it in the header Authorization: Bearer.";
const WRONG_TOKEN = "The token is wrong or no longer valid. The server prints the place of its token when it starts.";
const TOO_MANY = "Too many wrong tokens from this address. Try again in a minute.";

/** Takes the same time for all tokens. */
function isSame(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => createHash("sha256").update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
