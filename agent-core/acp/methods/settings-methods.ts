/** Settings of the client: grants, extensions, memory, trust, keys, the environment, and lists of models and providers. */
import { join } from "node:path";
import type { AgentApp } from "@zed-industries/agent-client-protocol";
import { type ConfiguredAgent, configuredAgent } from "../../agent/configured-agent.ts";
import { extensionPlaces, keyFile } from "../../config/home.ts";
import { addHomeServer, setHomeModel, setHomeVariable } from "../../config/home-file.ts";
import type { Memory } from "../../memory/memory.ts";
import { extensionMethods } from "../../protocol/extensions.ts";
import { failure, invalidParams, onClientRequest } from "../../protocol/handle.ts";
import { memoryMethods } from "../../protocol/memory.ts";
import { nothing } from "../../protocol/method.ts";
import { type HermesKey, type HermesKeyCheck, type HermesProvider, settingsMethods } from "../../protocol/settings.ts";
import { ANY_KEY, custom, type Deployment, deploymentAt, deployments } from "../../providers/deployments.ts";
import { endpointName } from "../../providers/fault-message.ts";
import { choiceId } from "../../providers/model-choice.ts";
import { namesNoModel } from "../../providers/resolve-model.ts";
import type { AgentServer } from "../agent-server.ts";
import { modelChoice } from "../config-options.ts";
import { throwRequestError } from "../request-errors.ts";

export function registerSettingsMethods(app: AgentApp, server: AgentServer): void {
  onClientRequest(app, settingsMethods.grants, async ({ params }) => {
    const rows = await server.session(params.sessionId).agent.setup.grants.list();
    return { grants: rows.map(({ row, lasting }) => ({ id: row, description: row, lasting })) };
  });
  onClientRequest(app, settingsMethods.revokeGrant, async ({ params: { sessionId, id } }) => {
    if (await server.session(sessionId).agent.setup.grants.revoke(id)) return {};
    throw invalidParams("id", "there is no such grant");
  });
  onClientRequest(app, settingsMethods.setAllowList, ({ params: { rows } }) => {
    server.client.allowed = rows;
  });
  onClientRequest(app, settingsMethods.trust, () => server.trust());
  onClientRequest(app, settingsMethods.setEnvironment, ({ params }) => server.changeEnvironment(params.variables));
  onClientRequest(app, settingsMethods.setHomeKey, async ({ params: { variable, key } }) => {
    const known = keyTakers(await server.configuration.read()).some((one) => (one.keyVariable ?? ANY_KEY) === variable);
    if (!known) throw invalidParams("variable", `no provider has its key in ${variable}`);
    await setHomeVariable(server.home, variable, key ?? undefined).catch(throwRequestError);
    await server.reconfigure();
  });
  onClientRequest(app, settingsMethods.setHomeModel, async ({ params }) => {
    const { environment: known = {} } = (await configuredAgent({ HERMES_HOME: server.home }, "acp")).options;
    // The endpoint's own key may be in the home already.
    if (namesNoModel({ ...known, [ANY_KEY]: undefined }) || known["HERMES_PROVIDER"] === params.provider)
      await setHomeModel(server.home, params).catch(throwRequestError);
  });
  onClientRequest(app, extensionMethods.addServer, async ({ params }) => {
    await addHomeServer(server.home, params).catch(throwRequestError);
    await server.reconfigure();
  });
  onClientRequest(app, settingsMethods.checkKey, async ({ params }) => {
    const check = await tryKey(params, await server.configuration.read());
    if (check !== undefined) return check;
    throw invalidParams("provider", `${JSON.stringify(params.provider)} takes no key, or its address is missing`);
  });
  onClientRequest(app, settingsMethods.providers, async () => {
    const configured = await server.configuration.read();
    await server.configuration.directory.discover();
    return {
      unset: server.configuration.directory.namesNoModel,
      providers: keyProviders(configured),
      keyFile: keyFile(server.options.environment),
      offers: server.configuration.directory.offers(),
    };
  });
  onClientRequest(app, settingsMethods.models, async () => {
    await Promise.all([server.configuration.directory.refresh(), server.configuration.directory.discover()]);
    return {
      groups: server.configuration.directory.groups().map(({ provider, title, models }) => ({
        provider,
        title,
        choices: models.map((model) => modelChoice(provider, model)),
      })),
    };
  });
}

/** The standard's way to route model calls. Loaded with the first use: few clients do. */
export function registerProviderMethods(app: AgentApp, server: AgentServer): void {
  for (const act of ["list", "set", "disable"] as const) {
    onClientRequest(app, { name: `providers/${act}`, params: nothing, result: nothing }, async ({ params }) =>
      (await import("./provider-routes.ts")).providerRoutes[act](server, params),
    );
  }
}

/** MCP servers, plugins, hooks and skills. */
export function registerExtensionMethods(app: AgentApp, server: AgentServer): void {
  onClientRequest(app, extensionMethods.list, async ({ params }) => {
    const { agent, cwd } = server.session(params.sessionId);
    await agent.setup.skills?.refresh();
    return {
      items: agent.setup.extensions.items(),
      places: { ...extensionPlaces(server.home), workspaceServers: join(cwd, ".mcp.json") },
    };
  });
  onClientRequest(app, extensionMethods.places, () => extensionPlaces(server.home));
  onClientRequest(app, extensionMethods.act, async ({ params }) => {
    const acted = server.session(params.sessionId).agent.setup.extensions.act(params);
    if (acted === undefined) throw invalidParams("id", `${params.id} does not offer the action ${params.action}`);
    return { message: await acted.catch(throwRequestError) };
  });
}

/** Entries of the memory, and the undo of a write. */
export function registerMemoryMethods(app: AgentApp, server: AgentServer): void {
  const answers = () => import("../commands/memory-answers.ts");
  const memoryOf = async (): Promise<Memory> => {
    const { memory } = (await server.configuration.read()).options;
    if (!memory) throw failure((await answers()).MEMORY_OFF);
    return memory;
  };
  onClientRequest(app, memoryMethods.list, async () => {
    const memory = await memoryOf();
    const { originText } = await answers();
    const projects = await memory.projects().catch(throwRequestError);
    const places = [
      ...(["memory", "user"] as const).map((target) => ({ target, of: memory })),
      ...projects.map((project) => ({ target: "project" as const, project, of: memory.ofProject(project) })),
    ];
    const files = places.map(async ({ of, ...place }) => {
      const entries = await of.entries(place.target).catch(throwRequestError);
      const shown = entries.map(({ text, write }) => ({ text, origin: originText(write) }));
      return { ...place, path: of.path(place.target), entries: shown };
    });
    return { files: await Promise.all(files) };
  });
  onClientRequest(app, memoryMethods.undo, async ({ params: { sessionId, callId }, signal }) => {
    const session = server.session(sessionId);
    const parts = { agent: session.agent, signal, send: session.send.bind(session) };
    return (await answers()).undoCall(parts, callId).catch(throwRequestError);
  });
}

function keyProviders(configured: ConfiguredAgent): readonly HermesProvider[] {
  const { environment } = configured.options;
  const set = environment["HERMES_BASE_URL"]?.trim();
  return keyTakers(configured).map((deployment) => {
    const { name, title, keyVariable = ANY_KEY, keyPage, baseUrl, hasSignIn } = deployment;
    return {
      ...{ name, title, keyVariable, needsAddress: baseUrl === undefined },
      hasKey: Boolean(environment[keyVariable]?.trim()),
      ...(keyPage !== undefined && { keyPage }),
      ...(hasSignIn && { hasSignIn }),
      ...(deployment === custom && set && { configured: { baseUrl: set, title: titleOf(custom, set) } }),
    };
  });
}

/** Undefined for an unknown provider, or one without an address. */
async function tryKey(
  { provider, key, baseUrl }: HermesKey,
  configured: ConfiguredAgent,
): Promise<HermesKeyCheck | undefined> {
  const { environment } = configured.options;
  const deployment = keyTakers(configured).find(({ name }) => name === provider);
  const own = deployment?.urlVariable === undefined ? undefined : environment[deployment.urlVariable];
  const address = baseUrl ?? own ?? deployment?.baseUrl;
  if (deployment === undefined || address === undefined || !URL.canParse(address)) return undefined;
  const stored = deployment.keyVariable === undefined ? undefined : environment[deployment.keyVariable];
  const endpoint = { provider, baseUrl: address, apiKey: (key ?? stored) || undefined };
  const { checkKey } = await import("../../providers/catalogue/check-key.ts"); // only a client that enters keys needs it
  const check = await checkKey(deployment, endpoint);
  if (!check.ok) return { ok: false, message: check.fault.message, refused: check.fault.kind === "authentication" };
  const title = titleOf(deployment, address);
  const count = check.models?.length;
  const choices = bestModels(
    deployment,
    check.models?.map(({ id }) => id),
  ).map((model) => choiceId({ provider, model }));
  const reached = count === undefined ? "" : `: it reaches ${count} ${count === 1 ? "model" : "models"}`;
  return { ok: true, message: `The key for ${title} works${reached}.`, choices };
}

/** An endpoint without a name of its own is named by its host. */
function titleOf(deployment: Deployment, baseUrl: string): string {
  return deployment === custom ? endpointName({ provider: custom.name, baseUrl }) : deployment.title;
}

/** Known providers, those of config.yaml with a variable for their key, and any other endpoint. */
function keyTakers({ endpoints }: ConfiguredAgent): readonly Deployment[] {
  const own = endpoints.flatMap(({ provider, baseUrl, keyVariable }): readonly Deployment[] =>
    provider === undefined || baseUrl === undefined || keyVariable === undefined
      ? []
      : [{ ...deploymentAt(baseUrl), name: provider, title: provider, baseUrl, keyVariable }],
  );
  const names = new Set(own.map(({ name }) => name));
  const takers = deployments.filter(
    (each) => each === custom || (each.keyVariable !== undefined && !names.has(each.name)),
  );
  // Those of config.yaml come before any other endpoint.
  return takers.flatMap((each) => (each === custom ? [...own, custom] : [each]));
}

/** The default model, then recommended ones, then all others; only listed ones if the endpoint lists its models. */
function bestModels(
  { defaultModel, knownModels = [] }: Deployment,
  listed: readonly string[] | undefined,
): readonly string[] {
  const best = [...(defaultModel === undefined ? [] : [defaultModel]), ...knownModels];
  if (listed === undefined) return [...new Set(best)];
  return [...new Set([...best.filter((model) => listed.includes(model)), ...listed])];
}
