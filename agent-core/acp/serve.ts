/** Serves the agent as an ACP app, in process or over a stream. */
import { setImmediate } from "node:timers/promises";
import {
  type AgentApp,
  type AgentConnection,
  type AnyMessage,
  agent,
  methods,
  type Stream,
} from "@zed-industries/agent-client-protocol";
import { AgentServer, type AgentServerOptions } from "./agent-server.ts";
import {
  registerConversationMethods,
  registerDelegationMethods,
  registerProcessMethods,
  registerTurnMethods,
} from "./methods/conversation-methods.ts";
import { registerHistoryMethods, registerSessionMethods } from "./methods/session-methods.ts";
import {
  registerConnectionMethods,
  registerCronMethods,
  registerEditorMethods,
  registerEditorNotifications,
  registerLearningMethods,
} from "./methods/sessionless-methods.ts";
import {
  registerExtensionMethods,
  registerMemoryMethods,
  registerProviderMethods,
  registerSettingsMethods,
} from "./methods/settings-methods.ts";
import { registerWorktreeMethods } from "./methods/worktree-methods.ts";
import { withMovedFields } from "./next-protocol.ts";

const registrations: readonly ((app: AgentApp, server: AgentServer) => void)[] = [
  registerConnectionMethods,
  registerSessionMethods,
  registerTurnMethods,
  registerConversationMethods,
  registerHistoryMethods,
  registerProcessMethods,
  registerDelegationMethods,
  registerSettingsMethods,
  registerProviderMethods,
  registerWorktreeMethods,
  registerExtensionMethods,
  registerMemoryMethods,
  registerLearningMethods,
  registerCronMethods,
  registerEditorNotifications,
  registerEditorMethods,
];

export type AgentService = {
  readonly app: AgentApp;
  /** Ends every session with its processes. */
  dispose(): Promise<void>;
};

/** An app for one connection: sessions belong to the client that opened them. */
export function agentApp(options: AgentServerOptions): AgentService {
  const server = new AgentServer(options, agentApp);
  const app = agent({ name: "hermes" });
  for (const register of registrations) register(app, server);
  return { app, dispose: () => server.dispose() };
}

/** The connection closes by itself when its stream ends. */
export function serve(
  stream: Stream,
  options: AgentServerOptions,
): { readonly connection: AgentConnection; readonly dispose: () => Promise<void> } {
  const { app, dispose } = agentApp(options);
  const readable = stream.readable.pipeThrough(prepared());
  return { connection: app.connect({ ...stream, readable }), dispose };
}

/**
 * Messages as the library takes them. A cancel waits until the prompts before it have their handlers, as the connection
 * handles notifications first.
 */
function prepared(): TransformStream<AnyMessage, AnyMessage> {
  return new TransformStream({
    async transform(message, controller) {
      if ("method" in message && message.method === methods.agent.session.cancel) await setImmediate();
      controller.enqueue(withMovedFields(message));
    },
  });
}
