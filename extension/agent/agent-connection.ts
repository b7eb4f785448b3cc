/** Connection to an agent: Hermes in its worker, or another program. A session keeps to its agent. */
import type { ClientContext, InitializeResponse } from "@zed-industries/agent-client-protocol";

/** Parts of ACP that an agent has. */
export type AgentOffers = {
  /** The methods of Hermes' own. */
  readonly hermes: boolean;
  readonly load: boolean;
  readonly list: boolean;
  readonly close: boolean;
  /** Further folders of a session. */
  readonly folders: boolean;
  readonly images: boolean;
  readonly embeddedText: boolean;
  /** MCP servers over these transports; those over stdio always. */
  readonly mcp: { readonly http: boolean; readonly sse: boolean };
};

export type AgentConnection = {
  /** Key of its sessions' ids; undefined for Hermes. */
  readonly name: string | undefined;
  /** For people. */
  readonly title: string;
  /** Complete once `agent` has resolved. */
  readonly offers: AgentOffers;
  /** Starts the agent when it does not run. */
  agent(): Promise<ClientContext>;
  /** Reason of a failed request in one line, with the end of the agent if that caused it. */
  explain(error: unknown): Promise<string>;
  /** Lets the user sign in; false when they did not. */
  signIn(): Promise<boolean>;
};

export const HERMES_OFFERS: AgentOffers = {
  ...{ hermes: true, load: true, list: true, close: true, folders: true, images: true, embeddedText: true },
  mcp: { http: true, sse: true },
};

export function offersOf({ agentCapabilities: can }: Pick<InitializeResponse, "agentCapabilities">): AgentOffers {
  const { http = false, sse = false } = can?.mcpCapabilities ?? {};
  const session = can?.sessionCapabilities;
  return {
    hermes: false,
    load: can?.loadSession === true,
    list: session?.list != null,
    close: session?.close != null,
    folders: session?.additionalDirectories != null,
    images: can?.promptCapabilities?.image === true,
    embeddedText: can?.promptCapabilities?.embeddedContext === true,
    mcp: { http, sse },
  };
}
