/** Options of an agent from the user's home folder and environment. The environment overrides config.yaml. */
import { loadConfig } from "../config/config.ts";
import { type Environment, homeFolder, memoriesFolder } from "../config/home.ts";
import type { Config, ModelEntry, TerminalConfig } from "../config/sections.ts";
import { type ContextEngine, defaultEngine } from "../context/context-engine.ts";
import type { CommandVariables } from "../host/terminals/backend.ts";
import { Memory } from "../memory/memory.ts";
import { networkVariables } from "../platform/http/network-settings.ts";
import { deployments } from "../providers/deployments.ts";
import type { ModelSettings } from "../providers/resolve.ts";
import type { AIAgentOptions } from "./agent-options.ts";
import type { AuxiliaryModels } from "./auxiliary.ts";

export type ConfiguredAgent = {
  readonly options: Pick<
    AIAgentOptions,
    | "home"
    | "environment"
    | "maxIterations"
    | "disabledToolsets"
    | "enabledToolsets"
    | "fallbacks"
    | "auxiliary"
    | "refreshEnvironment"
    | "silenceMs"
    | "retryMs"
    | "sampling"
    | "contextEngine"
    | "approvals"
    | "memory"
    | "commandSeconds"
  >;
  /** Settings of the place that runs commands. */
  readonly terminal: TerminalConfig;
  /** Changes to the environment of commands. */
  readonly variables: CommandVariables;
  /** Endpoints from the section `providers` of config.yaml. */
  readonly places: readonly ModelSettings[];
  /** One line for each setting that could not be used. */
  readonly warnings: readonly string[];
};

/** `platform` selects the entry of `platform_toolsets`: `acp` or `cli`. */
export async function configuredAgent(environment: Environment, platform: string): Promise<ConfiguredAgent> {
  const home = homeFolder(environment);
  const { config, environment: merged, warnings } = await loadConfig(home, environment);
  const toolsets = config.platform_toolsets[platform] ?? config.toolsets;
  const effort = config.agent.reasoning_effort;
  return {
    options: {
      home,
      environment: withDefaults(config, merged),
      fallbacks: config.fallback_providers.map((entry) => modelSettings(entry, config, merged)),
      auxiliary: auxiliaryModels(config, merged),
      refreshEnvironment: () => freshEnvironment(home, environment),
      silenceMs: (provider) => milliseconds(config.providers[provider]?.stale_timeout_seconds),
      ...(config.agent.retry_seconds !== undefined && { retryMs: config.agent.retry_seconds * 1_000 }),
      ...(effort !== undefined && { sampling: { reasoningEffort: effort } }),
      approvals: config.approvals.mode,
      memory: configuredMemory(home, config.memory),
      contextEngine: configuredEngine(config),
      commandSeconds: config.terminal.timeout,
      maxIterations: config.agent.max_turns,
      disabledToolsets: config.agent.disabled_toolsets,
      ...(toolsets !== undefined && { enabledToolsets: toolsets }),
    },
    terminal: config.terminal,
    variables: commandVariables(config, merged),
    places: Object.keys(config.providers)
      .map((provider) => modelSettings({ provider }, config, merged))
      .filter(({ baseUrl }) => baseUrl !== undefined),
    warnings,
  };
}

/** Reads the files of the home again, because a key may have been renewed. */
async function freshEnvironment(home: string, environment: Environment): Promise<Environment> {
  const { config, environment: merged } = await loadConfig(home, environment);
  return withDefaults(config, merged);
}

/** The environment overrides config.yaml. */
function withDefaults(config: Config, environment: Environment): Environment {
  const { proxy, no_proxy: noProxy, ca_file: caFile, strict_ssl: strictSsl } = config.network;
  return {
    ...networkVariables({ proxy, noProxy, caFile, strictSsl }),
    ...modelDefaults(config, environment),
    ...environment,
  };
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}

function configuredMemory(home: string, section: Config["memory"]): Memory | false {
  const { memory_enabled: isEnabled, memory_char_limit: memory, user_char_limit: user } = section;
  return isEnabled && new Memory({ folder: memoriesFolder(home), limits: { memory, user } });
}

type CompressionSection = Config["compression"];

const engines: Readonly<Record<Config["context"]["engine"], (section: CompressionSection) => ContextEngine>> = {
  default: builtIn,
  compressor: builtIn,
  none: manualEngine,
};

function configuredEngine({ context, compression }: Pick<Config, "context" | "compression">): ContextEngine {
  return compression.enabled ? engines[context.engine](compression) : manualEngine(compression);
}

function builtIn({
  threshold,
  soft_limit: softLimit,
  hard_limit: hardLimit,
  target,
  strategy,
}: CompressionSection): ContextEngine {
  return defaultEngine({ threshold, softLimit, hardLimit, target }, strategy);
}

/** Never compresses by itself, only after the provider refused a request as too long or when the user asks for it. */
function manualEngine(section: CompressionSection): ContextEngine {
  return { ...builtIn(section), name: "none", shouldCompress: () => false };
}

/** Settings of a model. Its own entry overrides the section of its provider. */
function modelSettings(entry: ModelEntry, { providers }: Config, environment: Environment): ModelSettings {
  const section = entry.provider === undefined ? undefined : providers[entry.provider];
  const baseUrl = entry.base_url ?? section?.base_url;
  const apiMode = entry.api_mode ?? section?.api_mode;
  const dialect = entry.dialect ?? section?.dialect;
  const apiKey =
    entry.api_key ?? keyIn(entry.key_env, environment) ?? section?.api_key ?? keyIn(section?.key_env, environment);
  return {
    ...(entry.provider !== undefined && { provider: entry.provider }),
    ...(entry.model !== undefined && { model: entry.model }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(apiMode !== undefined && { apiMode }),
    ...(dialect !== undefined && { dialect }),
    ...(apiKey !== undefined && { apiKey }),
  };
}

/** Environment variables that select the model of config.yaml. */
function modelDefaults(config: Config, environment: Environment): Environment {
  const { model } = config;
  if (model === undefined) return {};
  const section: Record<string, string | undefined> = model;
  const { provider, base_url: url, api_mode: mode, api_key: key, dialect: named } = section;
  const entry: ModelEntry = {
    ...(provider && { provider }),
    ...(url && { base_url: url }),
    ...(mode && { api_mode: mode }),
    ...(named && { dialect: named }),
    ...(key && { api_key: key }),
  };
  const { baseUrl, apiMode, apiKey, dialect } = modelSettings(entry, config, environment);
  return {
    HERMES_MODEL: section["default"] ?? section["name"],
    HERMES_PROVIDER: provider,
    HERMES_BASE_URL: baseUrl,
    HERMES_API_MODE: apiMode,
    HERMES_DIALECT: dialect,
    HERMES_API_KEY: apiKey,
  };
}

/** Models of the auxiliary tasks in config.yaml; `provider: auto` selects none. */
function auxiliaryModels(config: Config, environment: Environment): Readonly<Record<string, AuxiliaryModels>> {
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

/**
 * Withholds the agent's keys from commands, except those in `env_passthrough`. `environment` includes the home's
 * `.env`.
 */
function commandVariables(config: Config, environment: Environment): CommandVariables {
  const names = config.terminal.env_passthrough;
  const passed = names.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    withheld: [...keyNames(config)].filter((name) => !names.includes(name)),
    passed: Object.fromEntries(passed),
  };
}

function keyNames(config: Config): ReadonlySet<string> {
  const tasks: readonly (ModelEntry & { readonly fallback_chain: readonly ModelEntry[] })[] = Object.values(
    config.auxiliary,
  );
  const entries = [...config.fallback_providers, ...tasks.flatMap((task) => [task, ...task.fallback_chain])];
  const configured = [...Object.values(config.providers), ...entries].map((entry) => entry.key_env);
  const known = deployments.map(({ keyVariable }) => keyVariable);
  return new Set(
    ["HERMES_API_KEY", "HERMES_PROXY", "HERMES_PROXY_AUTHORIZATION", ...known, ...configured].filter(
      (name) => name !== undefined,
    ),
  );
}
