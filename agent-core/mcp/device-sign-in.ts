/**
 * Sign-in with a code that the user types on any device (RFC 8628), for a machine without a browser. Offered by issuers with
 * a `device_authorization_endpoint`.
 */
import {
  assertSecureTokenEndpoint,
  discoverOAuthServerInfo,
  fetchToken,
  OAuthError,
  type OAuthTokens,
  registerClient,
} from "@modelcontextprotocol/client";
import * as z from "zod";
import type { Clock } from "../platform/clock.ts";
import { messageOf } from "../platform/errors.ts";
import { DEVICE_GRANT, pollForTokens } from "../platform/http/device-grant.ts";
import { parseJson } from "../platform/json.ts";
import { visibleText } from "../platform/visible-text.ts";
import { limited, type ServerAuth, tokensAt } from "./server-auth.ts";
import type { SignIn } from "./sign-in-file.ts";

/** Interval between two polls when the issuer names none, and its growth when the issuer asks for fewer (RFC 8628). */
const POLL_SECONDS = 5;
/** Maximum lifetime of a code, whatever the issuer says. Seconds. */
const MAX_SECONDS = 1_800;
/** Issuers that register programs require an address, which this grant does not use. */
const UNUSED_REDIRECT = "http://127.0.0.1/callback";

/** Code for the user, and the page that takes it. */
export type DeviceCode = {
  readonly code: string;
  readonly page: string;
  /** The page with the code in its address. */
  readonly pageWithCode: string | undefined;
  /** Time until the code expires. */
  readonly seconds: number;
};

export type DeviceSignInOptions = {
  readonly show: (code: DeviceCode) => void;
  /** Cancels the sign-in. */
  readonly signal: AbortSignal;
  readonly clock?: Pick<Clock, "wait" | "monotonicNow">;
};

const issuerSchema = z.looseObject({ device_authorization_endpoint: z.string().optional().catch(undefined) });
const webAddress = z.url({ protocol: /^https?$/ });
const answerSchema = z.looseObject({
  device_code: z.string().min(1),
  user_code: z.string().min(1).max(100),
  verification_uri: webAddress,
  verification_uri_complete: webAddress.optional().catch(undefined),
  expires_in: z.coerce.number().positive(),
  interval: z.coerce.number().positive().optional().catch(undefined),
});
type DeviceAnswer = z.infer<typeof answerSchema>;

/** Signs the user in. Rejects with an Error in one line, and with the signal's reason when it is aborted. */
export async function signInByDevice(server: ServerAuth, options: DeviceSignInOptions): Promise<void> {
  const { name } = server.options;
  try {
    const issuer = await IssuerOfCodes.find(server, options.signal);
    const answer = await issuer.requestCode();
    const seconds = Math.min(answer.expires_in, MAX_SECONDS);
    options.show({
      code: visibleText(answer.user_code),
      page: answer.verification_uri,
      pageWithCode: answer.verification_uri_complete,
      seconds,
    });
    const { signal, clock } = options;
    const request = () => issuer.requestTokens(answer.device_code);
    const timing = { seconds, interval: answer.interval ?? POLL_SECONDS, slowerBy: POLL_SECONDS };
    await issuer.store(await pollForTokens({ request, codeOf, ...timing }, signal, clock));
  } catch (error) {
    options.signal.throwIfAborted();
    throw new Error(`Could not sign in to ${name}: ${messageOf(error)}. Try \`/mcp signin ${name}\` again.`, {
      cause: error,
    });
  }
}

/** Undefined for a failed connection. */
function codeOf(error: unknown): string | undefined {
  return error instanceof OAuthError ? error.code : undefined;
}

/** Issuer of one sign-in, and this program as it knows it. */
class IssuerOfCodes {
  readonly #server: ServerAuth;
  readonly #signal: AbortSignal;
  readonly #found: Awaited<ReturnType<typeof discoverOAuthServerInfo>>;
  readonly #endpoint: URL;
  #client: SignIn["client"] | undefined;

  private constructor(
    server: ServerAuth,
    found: Awaited<ReturnType<typeof discoverOAuthServerInfo>>,
    signal: AbortSignal,
  ) {
    const { device_authorization_endpoint: endpoint } = issuerSchema.parse(found.authorizationServerMetadata ?? {});
    if (endpoint === undefined) {
      throw new Error(`its issuer ${found.authorizationServerUrl} offers no device codes: sign in without --device`);
    }
    this.#server = server;
    this.#found = found;
    this.#signal = signal;
    this.#endpoint = assertSecureTokenEndpoint(endpoint);
  }

  static async find(server: ServerAuth, signal: AbortSignal): Promise<IssuerOfCodes> {
    const { url, fetchFn } = server.options;
    const { resourceMetadataUrl } = server.challenge;
    const found = await discoverOAuthServerInfo(url, {
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      fetchFn: limited(fetchFn, signal),
    });
    return new IssuerOfCodes(server, found, signal);
  }

  async requestCode(): Promise<DeviceAnswer> {
    const client = await this.#registered();
    const form = new URLSearchParams({ client_id: client.client_id });
    if (client.client_secret !== undefined) form.set("client_secret", client.client_secret);
    if (this.#scope !== undefined) form.set("scope", this.#scope);
    const { resource } = this.#found.resourceMetadata ?? {};
    if (resource !== undefined) form.set("resource", resource);
    const response = await limited(this.#server.options.fetchFn, this.#signal)(this.#endpoint, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: form,
    });
    const text = await response.text();
    const { data } = answerSchema.safeParse(parseJson(text));
    if (response.ok && data !== undefined) return data;
    throw new Error(`its issuer gave no code (${response.status}): ${visibleText(text).slice(0, 200)}`);
  }

  async requestTokens(deviceCode: string): Promise<OAuthTokens> {
    const client = await this.#registered();
    const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = this.#found;
    return fetchToken(
      {
        redirectUrl: undefined,
        clientMetadata: this.#metadata,
        clientInformation: () => client,
        prepareTokenRequest: () => new URLSearchParams({ grant_type: DEVICE_GRANT, device_code: deviceCode }),
        ...unusedSteps,
      },
      authorizationServerUrl,
      {
        ...(metadata && { metadata }),
        ...(resourceMetadata && { resource: new URL(resourceMetadata.resource) }),
        fetchFn: limited(this.#server.options.fetchFn, this.#signal),
      },
    );
  }

  async store(tokens: OAuthTokens): Promise<void> {
    const { file, url, clock } = this.#server.options;
    const client = await this.#registered();
    await file.change(async () => ({ url: url.href, issuer: this.#name, client, ...tokensAt(tokens, clock.now()) }));
  }

  get #name(): string {
    return this.#found.authorizationServerMetadata?.issuer ?? this.#found.authorizationServerUrl;
  }

  get #scope(): string | undefined {
    const scope = this.#server.options.registration?.scope ?? this.#server.challenge.scope;
    return scope ?? this.#found.resourceMetadata?.scopes_supported?.join(" ");
  }

  get #metadata() {
    return {
      client_name: "Hermes",
      redirect_uris: [UNUSED_REDIRECT],
      grant_types: [DEVICE_GRANT, "refresh_token"],
      token_endpoint_auth_method: "none",
    };
  }

  /** This program at the issuer: from config.yaml, from an earlier sign-in with a code, or registered now. */
  async #registered(): Promise<SignIn["client"]> {
    if (this.#client !== undefined) return this.#client;
    const { client_id: id, client_secret: secret } = this.#server.options.registration ?? {};
    if (id !== undefined) {
      this.#client = { client_id: id, ...(secret !== undefined && { client_secret: secret }) };
      return this.#client;
    }
    const earlier = (await this.#server.options.file.of(this.#name))?.client;
    if (earlier !== undefined && "redirect_uris" in earlier && earlier.redirect_uris.includes(UNUSED_REDIRECT)) {
      this.#client = earlier;
      return earlier;
    }
    const { authorizationServerUrl, authorizationServerMetadata: metadata } = this.#found;
    this.#client = await registerClient(authorizationServerUrl, {
      ...(metadata && { metadata }),
      clientMetadata: this.#metadata,
      ...(this.#scope !== undefined && { scope: this.#scope }),
      fetchFn: limited(this.#server.options.fetchFn, this.#signal),
    });
    return this.#client;
  }
}

/** Steps of a sign-in with a browser, which the library's type requires. */
const unusedSteps = {
  tokens: () => undefined,
  saveTokens: () => undefined,
  redirectToAuthorization: () => undefined,
  saveCodeVerifier: () => undefined,
  codeVerifier: () => "",
};
