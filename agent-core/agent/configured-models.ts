/** Models as config.yaml names them, with what its `providers` say of where they are. */
import type { Environment } from "../config/home.ts";
import type { Config, ModelEntry } from "../config/sections.ts";
import type { ModelSettings } from "../providers/resolve.ts";
import type { AuxiliaryModels } from "./auxiliary.ts";

/** What the entry says stands over its provider's section. */
export function modelSettings(entry: ModelEntry, { providers }: Config, environment: Environment): ModelSettings {
  const place = entry.provider === undefined ? undefined : providers[entry.provider];
  const baseUrl = entry.base_url ?? place?.base_url;
  const apiMode = entry.api_mode ?? place?.api_mode;
  const apiKey =
    entry.api_key ?? keyIn(entry.key_env, environment) ?? place?.api_key ?? keyIn(place?.key_env, environment);
  return {
    ...(entry.provider !== undefined && { provider: entry.provider }),
    ...(entry.model !== undefined && { model: entry.model }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(apiMode !== undefined && { apiMode }),
    ...(apiKey !== undefined && { apiKey }),
  };
}

/** config.yaml's model as the environment variables that would say the same. */
export function modelDefaults(config: Config, environment: Environment): Environment {
  const { model } = config;
  if (model === undefined) return {};
  const section: Record<string, string | undefined> = model;
  const { provider, base_url: url, api_mode: mode, api_key: key } = section;
  const entry: ModelEntry = {
    ...(provider && { provider }),
    ...(url && { base_url: url }),
    ...(mode && { api_mode: mode }),
    ...(key && { api_key: key }),
  };
  const { baseUrl, apiMode, apiKey } = modelSettings(entry, config, environment);
  return {
    HERMES_MODEL: section["default"] ?? section["name"],
    HERMES_PROVIDER: provider,
    HERMES_BASE_URL: baseUrl,
    HERMES_API_MODE: apiMode,
    HERMES_API_KEY: apiKey,
  };
}

/** The models of each auxiliary task that config.yaml names one for; `provider: auto` names none. */
export function auxiliaryModels(config: Config, environment: Environment): Readonly<Record<string, AuxiliaryModels>> {
  const tasks = Object.entries(config.auxiliary).map(([task, { timeout, fallback_chain: others, ...own }]) => {
    const named = [own, ...others].filter(({ model, provider }) => model !== undefined && provider !== "auto");
    const models: AuxiliaryModels = {
      chain: named.map((entry) => modelSettings(entry, config, environment)),
      ...(timeout !== undefined && { timeoutMs: timeout * 1_000 }),
    };
    return [task, models] as const;
  });
  return Object.fromEntries(tasks);
}

function keyIn(variable: string | undefined, environment: Environment): string | undefined {
  return variable === undefined ? undefined : environment[variable] || undefined;
}
