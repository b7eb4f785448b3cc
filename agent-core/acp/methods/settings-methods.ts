/** Settings of the client: grants, trust, keys, the environment, and lists of models and providers. */
import type { AgentApp } from "@zed-industries/agent-client-protocol";
import { invalidParams, onClientRequest } from "../../protocol/handle.ts";
import { settingsMethods } from "../../protocol/settings.ts";
import type { AgentServer } from "../agent-server.ts";
import { keyProviders, tryKey } from "../key-providers.ts";
import { modelChoice } from "../model-option.ts";

export function registerSettingsMethods(app: AgentApp, server: AgentServer): void {
  onClientRequest(app, settingsMethods.grants, ({ params }) => ({
    grants: server.session(params.sessionId).agent.grants.list(),
  }));
  onClientRequest(app, settingsMethods.revokeGrant, ({ params: { sessionId, id } }) => {
    if (server.session(sessionId).agent.grants.revoke(id)) return {};
    throw invalidParams("id", "nothing like it is granted");
  });
  onClientRequest(app, settingsMethods.trust, () => {
    server.trust();
    return {};
  });
  onClientRequest(app, settingsMethods.setEnvironment, async ({ params }) => {
    await server.changeEnvironment(params.variables);
    return {};
  });
  onClientRequest(app, settingsMethods.checkKey, async ({ params }) => {
    const { options } = await server.configure();
    const check = await tryKey(params, options.environment ?? {});
    if (check !== undefined) return check;
    throw invalidParams("provider", `${JSON.stringify(params.provider)} takes no key, or its address is missing`);
  });
  onClientRequest(app, settingsMethods.providers, async () => {
    const { options } = await server.configure();
    await server.directory.discover();
    return {
      unset: server.directory.namesNoModel,
      providers: keyProviders(options.environment ?? {}),
      offers: server.directory.offers(),
    };
  });
  onClientRequest(app, settingsMethods.models, async () => {
    await Promise.all([server.directory.refresh(), server.directory.discover()]);
    return {
      groups: server.directory.groups().map(({ provider, title, models }) => ({
        provider,
        title,
        choices: models.map((model) => modelChoice(provider, model)),
      })),
    };
  });
}
