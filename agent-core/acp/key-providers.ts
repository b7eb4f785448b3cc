/** Providers that take a key, and how a key of theirs is tried. */
import type { HermesKey, HermesKeyCheck, HermesProvider } from "../protocol/settings.ts";
import { checkKey } from "../providers/catalogue/check-key.ts";
import { choiceId } from "../providers/choice.ts";
import { custom, type Deployment, deployments } from "../providers/deployments.ts";

/** Of any endpoint that has no variable of its own. */
const ANY_KEY = "HERMES_API_KEY";

type Environment = Readonly<Record<string, string | undefined>>;

export function keyProviders(environment: Environment): readonly HermesProvider[] {
  return takers().map(({ name, title, keyVariable = ANY_KEY, keyPage, baseUrl }) => ({
    name,
    title,
    keyVariable,
    hasKey: Boolean(environment[keyVariable]?.trim()),
    ...(keyPage !== undefined && { keyPage }),
    needsAddress: baseUrl === undefined,
  }));
}

/** Undefined when there is no such provider, or no address for it. */
export async function tryKey(
  { provider, key, baseUrl }: HermesKey,
  environment: Environment,
): Promise<HermesKeyCheck | undefined> {
  const deployment = takers().find(({ name }) => name === provider);
  const own = deployment?.urlVariable === undefined ? undefined : environment[deployment.urlVariable];
  const address = baseUrl ?? own ?? deployment?.baseUrl;
  if (deployment === undefined || address === undefined || !URL.canParse(address)) return undefined;
  const endpoint = { provider, baseUrl: address, apiKey: key === "" ? undefined : key };
  const check = await checkKey(deployment, endpoint);
  if (!check.ok) return { ok: false, message: check.fault.message, refused: check.fault.kind === "authentication" };
  const { title } = deployment;
  const count = check.models?.length;
  const choices = bestModels(
    deployment,
    check.models?.map(({ id }) => id),
  ).map((model) => choiceId({ provider, model }));
  const reached = count === undefined ? "" : `: it reaches ${count} ${count === 1 ? "model" : "models"}`;
  return { ok: true, message: `The key for ${title} works${reached}.`, choices };
}

function takers(): readonly Deployment[] {
  return [...deployments.filter(({ keyVariable }) => keyVariable !== undefined), custom];
}

/** The default, then those worth offering, then all others; only such as the endpoint has, where it says. */
function bestModels(
  { defaultModel, knownModels = [] }: Deployment,
  listed: readonly string[] | undefined,
): readonly string[] {
  const best = [...(defaultModel === undefined ? [] : [defaultModel]), ...knownModels];
  if (listed === undefined) return [...new Set(best)];
  return [...new Set([...best.filter((model) => listed.includes(model)), ...listed])];
}
