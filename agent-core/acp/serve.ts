/** The agent as an ACP app, built from the table of methods; and the same over a stream. */
import { type AgentApp, type AgentConnection, agent, type Stream } from "@zed-industries/agent-client-protocol";
import { AgentServer, type AgentServerOptions } from "./agent-server.ts";
import { table } from "./methods/table.gen.ts";

export type AgentService = {
  readonly app: AgentApp;
  /** Ends every session and what it runs. */
  dispose(): Promise<void>;
};

/** For one connection: sessions belong to the client that opened them. */
export function agentApp(options: AgentServerOptions): AgentService {
  const server = new AgentServer(options);
  const app = agent({ name: "hermes" });
  for (const method of table) method.register(app, server);
  return { app, dispose: () => server.dispose() };
}

/** The connection closes by itself when its stream ends. */
export function serve(
  stream: Stream,
  options: AgentServerOptions,
): { readonly connection: AgentConnection; readonly dispose: () => Promise<void> } {
  const { app, dispose } = agentApp(options);
  return { connection: app.connect(stream), dispose };
}
