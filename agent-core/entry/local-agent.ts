/** The agent in the process of its client: the command line, a batch or a gateway. */
import {
  type ClientApp,
  type ClientCapabilities,
  type ClientContext,
  client,
  type Implementation,
  methods,
  RequestError,
  type SessionNotification,
} from "@zed-industries/agent-client-protocol";
import type { AgentServerOptions } from "../acp/agent-server.ts";
import { COMMAND_LINE } from "../acp/connected-client.ts";
import { messageWithCause } from "../acp/request-errors.ts";
import { type AgentService, agentApp } from "../acp/serve.ts";
import type { Environment } from "../config/home.ts";
import { nodeHost } from "../host/node-host.ts";
import { takeEnvironment } from "../host/terminals/command-environment.ts";
import { messageOf } from "../platform/errors.ts";
import { VERSION } from "./version.ts";

export type { TaskOptions } from "../acp/acp-host.ts";
export type { AgentService } from "../acp/serve.ts";

/** The command line as `initialize` names it. */
export const CLIENT_INFO = { name: COMMAND_LINE, title: "the command line", version: VERSION };

/** An agent in this process. `settings`: variables that replace those of the process. `log`: default: standard error. */
export function localAgent(
  settings: Environment = {},
  log: (line: string) => void = (line) => void process.stderr.write(`${line}\n`),
  more: Pick<AgentServerOptions, "task"> = {},
): AgentService {
  const environment = { ...takeEnvironment(), ...settings };
  return agentApp({ version: VERSION, environment, local: nodeHost(), log, ...more });
}

/** A client whose updates are taken as they were sent: the library's check takes as long as their work. */
export function localClient(name: string, update: (notification: SessionNotification) => void): ClientApp {
  // The sender is our own agent.
  const asSent = (params: unknown): SessionNotification => params as SessionNotification;
  return client({ name }).onNotification(methods.client.session.update, asSent, ({ params }) => update(params));
}

type Identity = { readonly capabilities: ClientCapabilities; readonly info?: Implementation };

/** Connects the client with the agent, and disposes of the agent after the work. `info`: default: the command line. */
export async function connectLocally<T>(
  { app, dispose }: AgentService,
  us: ClientApp,
  { capabilities: clientCapabilities, info: clientInfo = CLIENT_INFO }: Identity,
  work: (agent: ClientContext) => Promise<T>,
): Promise<T> {
  try {
    return await us.connectWith(app, async (agent) => {
      await agent.request(methods.agent.initialize, { protocolVersion: 1, clientInfo, clientCapabilities });
      return work(agent);
    });
  } finally {
    await dispose();
  }
}

/** The agent's message, without the protocol's name of the parameter. */
export function ownWords(error: unknown): string {
  return (error instanceof RequestError ? messageWithCause(error) : messageOf(error)).replace(
    /^(?:value|modeId): /,
    "",
  );
}
