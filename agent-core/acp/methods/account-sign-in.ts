/** Sign-in to a provider in the user's browser, as a method of ACP's `authenticate`: for clients that open pages. */
import type { AgentContext } from "@zed-industries/agent-client-protocol";
import { setHomeVariable } from "../../config/home-file.ts";
import { messageOf } from "../../platform/errors.ts";
import { openUrlMethod } from "../../protocol/extensions.ts";
import { failure } from "../../protocol/handle.ts";
import { call } from "../../protocol/method.ts";
import { openrouter } from "../../providers/deployments.ts";
import type { AgentServer } from "../agent-server.ts";

/** Signs in and stores the account or key in the home. Rejects with one line, also when the user refuses the page. */
export async function signInToAccount(
  provider: string,
  server: AgentServer,
  { client, signal }: { readonly client: AgentContext; readonly signal: AbortSignal },
): Promise<void> {
  const { environment = {} } = (await server.configuration.read()).options;
  const { home } = server;
  const refused = Promise.withResolvers<never>();
  const open = async (url: string, message?: string): Promise<void> => {
    const { opened } = await call(client, openUrlMethod, { url, message });
    if (!opened) throw new Error("the page was not opened");
  };
  try {
    if (provider === openrouter.name) {
      const { requestOpenRouterKey } = await import("../../providers/accounts/openrouter-key.ts");
      const key = await requestOpenRouterKey({ open, baseUrl: environment["OPENROUTER_BASE_URL"], signal });
      await setHomeVariable(home, "OPENROUTER_API_KEY", key);
    } else {
      const { signInToPortal } = await import("../../providers/accounts/nous-portal.ts");
      const portal = environment["HERMES_PORTAL_BASE_URL"];
      const show = ({ code, page }: { readonly code: string; readonly page: string }): void => {
        open(page, `Confirm the code ${code} on the page of Nous Portal.`).catch(refused.reject);
      };
      const cancel = new AbortController();
      const ending = AbortSignal.any([signal, cancel.signal]);
      const signedIn = signInToPortal({ home, portal, signal: ending, show });
      await Promise.race([signedIn, refused.promise]).finally(() => cancel.abort());
    }
  } catch (error) {
    signal.throwIfAborted();
    throw failure(`Could not sign in: ${messageOf(error)}.`);
  }
}
