/** Sign-in to a provider in the user's browser. The account or key that results is stored in the home. */
import type { Environment } from "../../config/home.ts";
import { setHomeVariable } from "../../config/home-file.ts";
import { openrouter } from "../deployments.ts";
import type { PortalCode } from "./nous-portal.ts";

export type SignInPorts = {
  readonly home: string;
  readonly environment: Environment;
  /** Shows a page to the user, with the code to confirm there if it has one. A rejection ends the sign-in. */
  readonly open: (page: string, code?: string) => Promise<void>;
  /** Asks for the code or address that the user pastes when the browser is on another machine. Default: never. */
  readonly paste?: () => Promise<string>;
  readonly signal: AbortSignal;
};

/** `provider`: name of one with `hasSignIn`. Rejects with the reason in one line. */
export function signInTo(provider: string, ports: SignInPorts): Promise<void> {
  return provider === openrouter.name ? createOpenRouterKey(ports) : signInByCode(ports);
}

async function createOpenRouterKey({ home, environment, open, paste, signal }: SignInPorts): Promise<void> {
  const { requestOpenRouterKey } = await import("./openrouter-key.ts");
  const key = await requestOpenRouterKey({
    open: (page) => open(page),
    ...(paste && { pasted: paste() }),
    baseUrl: environment["OPENROUTER_BASE_URL"],
    signal,
  });
  await setHomeVariable(home, "OPENROUTER_API_KEY", key);
}

async function signInByCode({ home, environment, open, signal }: SignInPorts): Promise<void> {
  const { signInToPortal } = await import("./nous-portal.ts");
  const refused = Promise.withResolvers<never>();
  const show = ({ code, page }: PortalCode): void => void open(page, code).catch(refused.reject);
  const cancel = new AbortController();
  const ending = AbortSignal.any([signal, cancel.signal]);
  const portal = environment["HERMES_PORTAL_BASE_URL"];
  const signedIn = signInToPortal({ home, portal, signal: ending, show });
  await Promise.race([signedIn, refused.promise]).finally(() => cancel.abort());
}
