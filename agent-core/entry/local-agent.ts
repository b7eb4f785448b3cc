/** The agent in the process of its client: the command line, a batch or a gateway. */
import { RequestError } from "@zed-industries/agent-client-protocol";
import type { AgentServerOptions } from "../acp/agent-server.ts";
import { COMMAND_LINE } from "../acp/connected-client.ts";
import { messageWithCause } from "../acp/request-errors.ts";
import { type AgentService, agentApp } from "../acp/serve.ts";
import type { Environment } from "../config/home.ts";
import { nodeHost } from "../host/node-host.ts";
import { takeEnvironment } from "../host/terminals/command-environment.ts";
import { messageOf } from "../platform/errors.ts";
import { VERSION } from "./version.ts";

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

/** The agent's message, without the protocol's name of the parameter. */
export function ownWords(error: unknown): string {
  return (error instanceof RequestError ? messageWithCause(error) : messageOf(error)).replace(
    /^(?:value|modeId): /,
    "",
  );
}
