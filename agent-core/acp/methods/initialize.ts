import { methods, PROTOCOL_VERSION } from "@zed-industries/agent-client-protocol";
import type { HermesAgentCapabilities } from "../../protocol/capabilities.ts";
import { authMethods } from "../auth-methods.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(methods.agent.initialize, ({ params, client }) => {
      const { clientCapabilities = {}, clientInfo } = params;
      server.identify({ capabilities: clientCapabilities, title: clientInfo?.title ?? clientInfo?.name }, client);
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: "hermes", title: "Hermes", version: server.options.version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
          sessionCapabilities: { close: {}, list: {}, resume: {}, delete: {}, fork: {}, additionalDirectories: {} },
          _meta: {
            hermes: { steer: true, restore: true, processes: true, tail: true } satisfies HermesAgentCapabilities,
          },
        },
        authMethods: authMethods(clientCapabilities),
      };
    });
  },
};
