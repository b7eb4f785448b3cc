/** Which endpoints a user can choose models from: the configured one, those described, all whose key is set. Pure. */
import { deployments, offline } from "../deployments.ts";
import { type ModelSettings, resolveModel } from "../resolve.ts";
import type { Place } from "./ask-endpoint.ts";

export type Source = Place & { readonly title: string; readonly knownModels: readonly string[] };

type Environment = Readonly<Record<string, string | undefined>>;

/** The configured one first. Local servers and the editor are not among them: they are found, not configured. */
export function sourcesOf(environment: Environment, own: readonly ModelSettings[]): readonly Source[] {
  const configured = resolveModel({}, environment);
  const sources: Source[] = [];
  const add = ({ mode, endpoint }: Place): void => {
    if (mode === offline.mode || endpoint.baseUrl === undefined) return;
    if (sources.some((source) => source.endpoint.provider === endpoint.provider)) return;
    const known = deployments.find(({ name }) => name === endpoint.provider);
    const title = known?.title ?? endpoint.provider;
    sources.push({ mode, endpoint, title, knownModels: known?.knownModels ?? [] });
  };
  const addOf = (settings: ModelSettings): void => {
    // The name only fills the gap: the endpoint is what is wanted.
    const resolution = resolveModel({ model: "any", ...settings }, environment);
    if (resolution.ok) add(resolution.model);
  };
  if (configured.ok) add(configured.model);
  for (const place of own) addOf(place);
  for (const { name, keyVariable, defaultModel } of deployments) {
    if (keyVariable === undefined || !environment[keyVariable]?.trim()) continue;
    addOf({ provider: name, ...(defaultModel !== undefined && { model: defaultModel }) });
  }
  return sources;
}
