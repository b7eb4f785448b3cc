/**
 * Sign-in of the user to an MCP server: OAuth 2.1 in a browser, with PKCE and dynamic registration. The issuer redirects the
 * browser to a port of this machine. The answer must carry the state of this sign-in and the name of the issuer.
 */
import { randomBytes } from "node:crypto";
import {
  auth,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthTokens,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";
import { abortable } from "../platform/deadline.ts";
import { messageOf } from "../platform/errors.ts";
import { listenForRedirect } from "../platform/http/loopback-redirect.ts";
import { limited, type ServerAuth, tokensAt } from "./server-auth.ts";
import type { SignIn } from "./sign-in-file.ts";

/** Timeout of a sign-in, for a user who has left the page. Milliseconds. */
const ANSWER_MS = 300_000;
const CALLBACK_PATH = "/callback";

export type SignInOptions = {
  /** Opens the issuer's page for the user. */
  readonly open: (url: URL) => Promise<void>;
  /** Address that the browser was redirected to, for a user who pastes it because the browser is on another machine. */
  readonly pasted?: Promise<URL>;
  /** Cancels the sign-in. */
  readonly signal: AbortSignal;
};

/** Signs the user in. Rejects with an Error in one line, and with the signal's reason when it is aborted. */
export async function signIn(
  server: ServerAuth,
  { open, pasted = new Promise<never>(() => undefined), signal }: SignInOptions,
): Promise<void> {
  const { name, url, file, fetchFn, registration } = server.options;
  const waiting = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  const earlier = await file.last();
  const fixed = registration?.redirect_port ?? 0;
  const redirect = await listenForRedirect({ path: CALLBACK_PATH, fixed, earlier: portOf(earlier) });
  try {
    const attempt = new Attempt(server, redirect.url, earlier);
    const scope = registration?.scope ?? server.challenge.scope;
    const terms = { ...server.challenge, ...(scope !== undefined && { scope }) };
    const options = { serverUrl: url, ...terms, fetchFn: limited(fetchFn, waiting) };
    await auth(attempt, { ...options, forceReauthorization: true });
    await abortable(open(attempt.page), waiting);
    const answer = await abortable(Promise.race([redirect.answer, pasted]), waiting);
    const { code, iss } = attempt.check(answer.searchParams);
    await auth(attempt, { ...options, authorizationCode: code, ...(iss !== null && { iss }) });
    redirect.close(`You are signed in to ${name}. You can close this page.`);
  } catch (error) {
    redirect.close(`The sign-in to ${name} failed. Hermes shows the reason.`);
    signal.throwIfAborted();
    const isTimeout = error instanceof DOMException && error.name === "TimeoutError";
    const reason = isTimeout ? "nobody answered within five minutes" : messageOf(error);
    throw new Error(`Could not sign in to ${name}: ${reason}. Try \`/mcp signin ${name}\` again.`, { cause: error });
  }
}

/** One sign-in, as the protocol's steps need it. Nothing is stored before it has succeeded. */
class Attempt implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly #server: ServerAuth;
  readonly #earlier: SignIn | undefined;
  readonly #state = randomBytes(32).toString("base64url");
  #client: SignIn["client"] | undefined;
  #verifier = "";
  #page: URL | undefined;
  #discovery: OAuthDiscoveryState | undefined;

  constructor(server: ServerAuth, redirectUrl: string, earlier: SignIn | undefined) {
    this.#server = server;
    this.redirectUrl = redirectUrl;
    this.#earlier = earlier;
  }

  get clientMetadata() {
    return {
      client_name: "Hermes",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  /** The issuer's page. */
  get page(): URL {
    if (this.#page === undefined || !/^https?:$/.test(this.#page.protocol)) {
      throw new Error("the issuer has no page for a sign-in");
    }
    return this.#page;
  }

  /** Code and issuer of the browser's answer. Throws for an answer to another sign-in, of another issuer, or without a code. */
  check(answer: URLSearchParams): { readonly code: string; readonly iss: string | null } {
    if (answer.get("state") !== this.#state) throw new Error("the answer belongs to another sign-in (wrong state)");
    const metadata = this.#discovery?.authorizationServerMetadata;
    const iss = answer.get("iss");
    const issParameterSupported = metadata?.["authorization_response_iss_parameter_supported"] === true;
    validateAuthorizationResponseIssuer({
      iss: iss ?? undefined,
      expectedIssuer: metadata?.issuer,
      issParameterSupported,
    });
    const code = answer.get("code");
    if (code === null)
      throw new Error(answer.get("error_description") ?? answer.get("error") ?? "the answer has no code");
    return { code, iss };
  }

  state(): string {
    return this.#state;
  }

  /** An earlier registration is used again when it names the same redirect. */
  clientInformation({ issuer }: { readonly issuer: string } = { issuer: "" }): SignIn["client"] | undefined {
    if (this.#client !== undefined) return this.#client;
    const { client_id: id, client_secret: secret } = this.#server.options.registration ?? {};
    if (id !== undefined) return { client_id: id, ...(secret !== undefined && { client_secret: secret }) };
    const earlier = this.#earlier?.issuer === issuer ? this.#earlier.client : undefined;
    return redirectsOf(earlier).includes(this.redirectUrl) ? earlier : undefined;
  }

  saveClientInformation(client: SignIn["client"]): void {
    this.#client = client;
  }

  /** A sign-in begins anew. */
  tokens(): undefined {
    return undefined;
  }

  async saveTokens(tokens: StoredOAuthTokens, context?: { readonly issuer: string }): Promise<void> {
    const { file, url, clock } = this.#server.options;
    const issuer = context?.issuer ?? tokens.issuer ?? url.origin;
    const client = this.clientInformation({ issuer });
    if (client === undefined) throw new Error("the issuer has not registered Hermes");
    await file.change(async () => ({ url: url.href, issuer, client, ...tokensAt(tokens, clock.now()) }));
  }

  redirectToAuthorization(page: URL): void {
    this.#page = page;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }
}

function redirectsOf(client: SignIn["client"] | undefined): readonly string[] {
  return client !== undefined && "redirect_uris" in client ? client.redirect_uris : [];
}

/** Port of an earlier sign-in, whose registration names it; 0 without one. */
function portOf(earlier: SignIn | undefined): number {
  const [redirect] = redirectsOf(earlier?.client);
  return redirect !== undefined && URL.canParse(redirect) ? Number(new URL(redirect).port) : 0;
}
