/** Sign-in to a provider in the user's browser, as a method of ACP's `authenticate`: for clients that open pages. */
import type { AgentContext } from "@zed-industries/agent-client-protocol";
import { messageOf } from "../../platform/errors.ts";
import { openUrlMethod } from "../../protocol/extensions.ts";
import { failure } from "../../protocol/handle.ts";
import { call } from "../../protocol/method.ts";
import { signInTo } from "../../providers/accounts/sign-in.ts";
import type { AgentServer } from "../agent-server.ts";

/** Signs in and stores the account or key in the home. Rejects with one line, also when the user refuses the page. */
export async function signInToAccount(
  provider: string,
  server: AgentServer,
  { client, signal }: { readonly client: AgentContext; readonly signal: AbortSignal },
): Promise<void> {
  const { environment = {} } = (await server.configuration.read()).options;
  const open = async (url: string, code?: string): Promise<void> => {
    const message = code === undefined ? undefined : `Confirm the code ${code} on the page of Nous Portal.`;
    const { opened } = await call(client, openUrlMethod, { url, message });
    if (!opened) throw new Error("the page was not opened");
  };
  try {
    await signInTo(provider, { home: server.home, environment, open, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw failure(`Could not sign in: ${messageOf(error)}.`);
  }
}
