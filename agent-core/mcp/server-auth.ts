/**
 * Access to an MCP server over HTTP that requires a sign-in: gives the transport its token, and renews it. A user signs in
 * only on request, see sign-in.ts.
 */
import { join } from "node:path";
import {
  type AuthProvider,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type FetchLike,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { type Clock, systemClock } from "../platform/clock.ts";
import { messageOf } from "../platform/errors.ts";
import { httpFetch } from "../platform/http/http-fetch.ts";
import type { HttpSettings, ServerConfig } from "./server-config.ts";
import { type SignIn, SignInFile } from "./sign-in-file.ts";

/** A token that ends within this time is renewed before a request, which may take as long. Milliseconds. */
const RENEWAL_MARGIN_MS = 30_000;
/** Limit of a renewal; other processes wait for the file as long. Milliseconds. */
const RENEWAL_MS = 8_000;

/** The server requires a sign-in. The message is one line for the user. */
export class SignInNeeded extends Error {
  override readonly name = "SignInNeeded";
}

/** Terms of a sign-in, from a refusal of the server. */
export type Challenge = { readonly resourceMetadataUrl?: URL; readonly scope?: string };

export type ServerAuthOptions = {
  readonly name: string;
  readonly url: URL;
  readonly file: SignInFile;
  readonly fetchFn: FetchLike;
  readonly clock: Pick<Clock, "now">;
  /** Registration of Hermes at the issuer. Default: Hermes registers itself. */
  readonly registration?: HttpSettings["oauth"];
};

/** By home, name, address and registration: the terms of a refusal hold for all sessions of the process. */
const known = new Map<string, ServerAuth>();

/** Undefined for a program, and for a server whose headers may have its credentials. */
export function serverAuthOf({ name, settings }: ServerConfig, home: string): ServerAuth | undefined {
  if (settings.kind === "stdio" || settings.kind === "acp") return undefined;
  if (settings.auth !== "oauth" && Object.keys(settings.headers).length > 0) return undefined;
  const url = new URL(settings.url);
  const { oauth: registration } = settings;
  const key = JSON.stringify([home, name, url.href, registration]);
  const plainName = name.replaceAll(/[^\w-]/g, "_").slice(0, 100); // no character that means something in a path
  const path = join(home, "mcp-tokens", `${plainName}.json`);
  const file = new SignInFile(path, url.href);
  const auth =
    known.get(key) ?? new ServerAuth({ name, url, file, fetchFn: wholeFetch, clock: systemClock, registration });
  known.set(key, auth);
  return auth;
}

/** The library requires the platform's own `Response`. Answers of issuers are small. */
const wholeFetch: FetchLike = async (url, { method, headers, body, signal } = {}) => {
  const init = { method, headers: new Headers(headers), body: body == null ? undefined : String(body), signal };
  const response = await httpFetch(url, init);
  const text = await response.text();
  return new Response(text === "" ? null : text, { status: response.status, headers: [...response.headers] });
};

export class ServerAuth implements AuthProvider {
  readonly options: ServerAuthOptions;
  #challenge: Challenge = {};
  #isSignedIn = false;
  /** Reason why the last sign-in is no longer valid. */
  #ended: SignInNeeded | undefined;

  constructor(options: ServerAuthOptions) {
    this.options = options;
  }

  /** From the last refusal. */
  get challenge(): Challenge {
    return this.#challenge;
  }

  /** True after a request with a token. */
  get isSignedIn(): boolean {
    return this.#isSignedIn;
  }

  /** Token for a request; undefined while nobody is signed in. Rejects with SignInNeeded when it cannot be renewed. */
  async token(): Promise<string | undefined> {
    const signIn = await this.options.file.last();
    this.#isSignedIn = signIn?.tokens !== undefined;
    if (signIn === undefined || !this.#isEnding(signIn)) return signIn?.tokens?.access_token;
    return this.#renewed(signIn.tokens?.access_token);
  }

  /** Renews a refused token. Rejects with SignInNeeded when only the user can sign in again. */
  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    this.#challenge = { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope && { scope }) };
    const signIn = await this.options.file.last();
    if (signIn?.tokens === undefined) throw this.#ended ?? this.#needed("requires a sign-in");
    await this.#renewed(signIn.tokens.access_token);
  }

  async signOut(): Promise<void> {
    this.#isSignedIn = false;
    await this.options.file.change(async (last) => last && withoutTokens(last));
  }

  #isEnding({ tokens, expiresAt }: SignIn): boolean {
    if (tokens?.refresh_token === undefined || expiresAt === undefined) return false;
    return expiresAt - this.options.clock.now() < RENEWAL_MARGIN_MS;
  }

  /** `refused`: the token that the server refused. When another process has renewed it, its token is used. */
  async #renewed(refused: string | undefined): Promise<string | undefined> {
    let token: string | undefined;
    let problem: Error | undefined;
    await this.options.file.change(async (last) => {
      token = last?.tokens?.access_token;
      if (last?.tokens === undefined || token !== refused) return undefined;
      try {
        const renewed = await this.#refresh(last, last.tokens);
        token = renewed.tokens?.access_token;
        return renewed;
      } catch (error) {
        problem = this.#problemOf(error);
        if (!(problem instanceof SignInNeeded)) return undefined;
        this.#ended = problem;
        return withoutTokens(last);
      }
    });
    if (problem !== undefined) throw problem;
    if (token === undefined) throw this.#ended ?? this.#needed("requires a sign-in");
    return token;
  }

  async #refresh({ client, issuer, url }: SignIn, tokens: StoredOAuthTokens): Promise<SignIn> {
    const { clock, fetchFn } = this.options;
    if (tokens.refresh_token === undefined) throw this.#needed("ended your sign-in");
    const fetchInTime = limited(fetchFn, AbortSignal.timeout(RENEWAL_MS));
    const { resourceMetadataUrl } = this.#challenge;
    const info = await discoverOAuthServerInfo(url, {
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      fetchFn: fetchInTime,
    });
    const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = info;
    const current = metadata?.issuer ?? authorizationServerUrl;
    if (current !== issuer) throw this.#needed(`now takes sign-ins of ${current} instead of ${issuer}`);
    const renewed = await refreshAuthorization(authorizationServerUrl, {
      ...(metadata && { metadata }),
      ...(resourceMetadata && { resource: resourceMetadata.resource }),
      clientInformation: client,
      refreshToken: tokens.refresh_token,
      fetchFn: fetchInTime,
    });
    return { url, issuer, client, ...tokensAt(renewed, clock.now()) };
  }

  #problemOf(error: unknown): Error {
    if (error instanceof SignInNeeded) return error;
    const isRefused =
      error instanceof OAuthError &&
      [OAuthErrorCode.InvalidGrant, OAuthErrorCode.InvalidClient].some((code) => code === error.code);
    if (isRefused) return this.#needed("ended your sign-in");
    return new Error(`The sign-in to ${this.options.name} could not be renewed: ${messageOf(error)}. Try again later.`);
  }

  #needed(reason: string): SignInNeeded {
    const { name } = this.options;
    return new SignInNeeded(`${name} ${reason}. Type \`/mcp signin ${name}\`.`);
  }
}

/** Tokens with the time of their end. */
export function tokensAt(tokens: StoredOAuthTokens, now: number): Pick<SignIn, "tokens" | "expiresAt"> {
  const { expires_in: seconds } = tokens;
  return { tokens, ...(seconds !== undefined && { expiresAt: now + seconds * 1_000 }) };
}

/** The registration stays for the next sign-in. */
function withoutTokens({ url, issuer, client }: SignIn): SignIn {
  return { url, issuer, client };
}

/** `fetch` that ends with the signal. */
export function limited(fetchFn: FetchLike, signal: AbortSignal): FetchLike {
  return (url, init) => fetchFn(url, { ...init, signal });
}
