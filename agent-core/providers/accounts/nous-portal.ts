/** Sign-in to Nous Portal with a code (RFC 8628), and its access tokens, which are refreshed before they expire. */
import * as z from "zod";
import { type Account, changeAccount, readAccount } from "../../config/account-file.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { DEVICE_GRANT, pollForTokens } from "../../platform/http/device-grant.ts";
import { httpFetch } from "../../platform/http/http-fetch.ts";
import { parseJson } from "../../platform/json.ts";
import { oneLine } from "../../platform/one-line.ts";

const PROVIDER = "nous";
const PORTAL = "https://portal.nousresearch.com";
const CLIENT = "hermes-cli";
const SCOPE = "inference:invoke";
/** Growth of the polling interval after `slow_down`, as the portal's own client has it. Seconds. */
const SLOWER_BY = 1;
/** Time before its end at which a token is refreshed. Milliseconds. */
const REFRESH_BEFORE_MS = 120_000;
const REQUEST_MS = 30_000;

const codeSchema = z.looseObject({
  device_code: z.string().min(1),
  user_code: z.string().min(1).max(100),
  verification_uri: z.url({ protocol: /^https?$/ }),
  verification_uri_complete: z
    .url({ protocol: /^https?$/ })
    .optional()
    .catch(undefined),
  expires_in: z.coerce.number().positive(),
  interval: z.coerce.number().positive().catch(5),
});
const tokensSchema = z.looseObject({
  access_token: z.string().min(1),
  refresh_token: z.string().optional(),
  expires_in: z.coerce.number().positive().catch(3_600),
  inference_base_url: z.url().optional().catch(undefined),
});

/** Code for the user, and the page that takes it. */
export type PortalCode = { readonly code: string; readonly page: string };

export type PortalOptions = {
  readonly home: string;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
};

export type PortalSignIn = PortalOptions & {
  readonly show: (code: PortalCode) => void;
  /** Address of the portal. Default: that of Nous Research. */
  readonly portal?: string | undefined;
};

/** Refusal of the portal. `code`: the error of OAuth; undefined when the portal is busy. */
class PortalError extends Error {
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined) {
    super(message);
    this.code = code;
  }
}

/** Signs the user in and stores the account. Rejects with an Error in one line. */
export async function signInToPortal(options: PortalSignIn): Promise<void> {
  const { home, signal, show, portal = PORTAL, clock = systemClock } = options;
  const place = { portal, signal };
  const code = codeSchema.parse(await post(place, "/api/oauth/device/code", { client_id: CLIENT, scope: SCOPE }));
  show({ code: code.user_code, page: code.verification_uri_complete ?? code.verification_uri });
  const request = async () =>
    tokensSchema.parse(
      await post(place, "/api/oauth/token", {
        grant_type: DEVICE_GRANT,
        client_id: CLIENT,
        device_code: code.device_code,
      }),
    );
  const codeOf = (error: unknown) => (error instanceof PortalError ? error.code : undefined);
  const timing = { seconds: code.expires_in, interval: code.interval, slowerBy: SLOWER_BY };
  const tokens = await pollForTokens({ request, codeOf, ...timing }, signal, clock);
  await changeAccount(home, PROVIDER, async () => accountWith(tokens, { portal_base_url: portal }, clock));
}

/** Access token of the signed-in account that is valid for two more minutes. Rejects when the user must sign in again. */
export async function portalToken({ home, signal, clock = systemClock }: PortalOptions): Promise<string> {
  const account = readAccount(home, PROVIDER);
  if (account !== undefined && isFresh(account, clock)) return account.access_token;
  const refreshed = await changeAccount(home, PROVIDER, async (present) => {
    if (present === undefined || isFresh(present, clock)) return present; // another process was faster
    const form = { grant_type: "refresh_token", client_id: CLIENT, refresh_token: present.refresh_token ?? "" };
    const tokens = tokensSchema.parse(
      await post({ portal: present.portal_base_url ?? PORTAL, signal }, "/api/oauth/token", form),
    );
    return accountWith(tokens, present, clock);
  }).catch((error: unknown) => {
    if (!(error instanceof PortalError) || error.code === undefined) throw error;
    throw new Error(`The sign-in to Nous Portal has ended (${error.code}). Run hermes auth add nous.`, {
      cause: error,
    });
  });
  if (refreshed === undefined) throw new Error("Nobody is signed in to Nous Portal. Run hermes auth add nous.");
  return refreshed.access_token;
}

function isFresh({ expires_at: end }: Account, clock: Clock): boolean {
  return end === undefined || Date.parse(end) - clock.now() > REFRESH_BEFORE_MS;
}

/** A new refresh token replaces the old one. An inference address counts only at the portal's own hosts. */
function accountWith(
  { access_token, refresh_token, expires_in, inference_base_url }: z.infer<typeof tokensSchema>,
  earlier: Partial<Account>,
  clock: Clock,
): Account {
  const refresh = refresh_token ?? earlier.refresh_token;
  const address = inference_base_url !== undefined && isTheirs(inference_base_url) ? inference_base_url : undefined;
  return {
    ...earlier,
    access_token,
    ...(refresh !== undefined && { refresh_token: refresh }),
    expires_at: new Date(clock.now() + expires_in * 1_000).toISOString(),
    ...(address !== undefined && { inference_base_url: address }),
  };
}

function isTheirs(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" && /(^|\.)nousresearch\.com$/.test(hostname);
}

async function post(
  { portal, signal }: { readonly portal: string; readonly signal: AbortSignal },
  path: string,
  form: Readonly<Record<string, string>>,
): Promise<unknown> {
  const response = await httpFetch(new URL(path, portal), {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: new URLSearchParams(form).toString(),
    signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
  });
  const text = await response.text();
  if (response.status < 400) return parseJson(text);
  const { error } = z
    .looseObject({ error: z.string().optional().catch(undefined) })
    .catch({})
    .parse(parseJson(text));
  const isBusy = response.status === 408 || response.status === 429 || response.status >= 500;
  throw new PortalError(
    `Nous Portal answered ${response.status}: ${oneLine(text, 200)}`,
    isBusy ? undefined : (error ?? `status ${response.status}`),
  );
}
