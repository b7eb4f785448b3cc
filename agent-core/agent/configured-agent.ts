/** Options of an agent from the user's home folder and environment. The environment overrides config.yaml. */
import { isAbsolute, join } from "node:path";
import * as z from "zod";
import { loadConfig } from "../config/config.ts";
import { type Environment, homeFolder, memoriesFolder } from "../config/home.ts";
import { readJsonFile } from "../config/home-file.ts";
import type { ModelEntry } from "../config/model-sections.ts";
import type { Config } from "../config/sections.ts";
import { type ContextEngine, defaultEngine, MAX_TARGET_SHARE } from "../context/context-engine.ts";
import type { CommandVariables } from "../host/terminals/backend.ts";
import { Memory } from "../memory/memory.ts";
import type { Message } from "../messages/message.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { networkVariables } from "../platform/http/network-settings.ts";
import { statOf } from "../platform/paths.ts";
import { deployments } from "../providers/deployments.ts";
import type { ModelFacts } from "../providers/model-info.ts";
import { type ModelSettings, resolveModel } from "../providers/resolve-model.ts";
import type { Sampling } from "../providers/wire/wire.ts";
import { table as toolTable } from "../tools/table.gen.ts";
import { unsupportedToolsets } from "../tools/toolsets.ts";
import { chooseSearch, SEARCH_VARIABLES } from "../web/web-access.ts";
import type { AIAgentOptions, DelegationSettings } from "./agent-options.ts";
import type { AuxiliaryModels } from "./auxiliary-models.ts";

/** `model`: name of the model at its provider; undefined when neither config.yaml nor HERMES_MODEL names one. */
export type StatedFacts = { readonly model: string | undefined; readonly facts: ModelFacts };

export type ConfiguredAgent = {
  /** The settings themselves, for the parts around the agent. */
  readonly config: Config;
  readonly options: AIAgentOptions & {
    readonly home: string;
    readonly environment: Environment;
    readonly clock: Clock;
  };
  /** Changes to the environment of commands. */
  readonly variables: CommandVariables;
  /** Name of a plugin's context engine; undefined for a built-in one. */
  readonly pluginEngine: string | undefined;
  /** Endpoints from the section `providers` of config.yaml. */
  readonly endpoints: readonly ModelSettings[];
  /** Facts about the model of config.yaml that precede those of its endpoint. */
  readonly stated: StatedFacts;
  /** One line for each setting that could not be used. */
  readonly warnings: readonly string[];
  /** One line for each protection with a misspelt name; see `LoadedConfig`. */
  readonly errors: readonly string[];
};

/** `platform` selects the entry of `platform_toolsets`: `acp` or `cli`. */
export async function configuredAgent(
  environment: Environment,
  platform: string,
  clock: Clock = systemClock,
): Promise<ConfiguredAgent> {
  const home = homeFolder(environment);
  const { config, environment: merged, warnings, errors } = await loadConfig(home, environment);
  const { agent, browser, web, compression, context, providers } = config;
  const toolsets = statedToolsets(environment, errors) ?? config.platformToolsets[platform] ?? config.toolsets;
  const search = chooseSearch({ backend: web.searchBackend ?? web.backend, baseUrl: web.baseUrl }, merged);
  const prefill = await prefillMessages(home, config);
  return {
    config: { ...config, worktree: config.worktree || environment["HERMES_WORKTREE"] === "true" },
    options: {
      home,
      clock,
      environment: withDefaults(config, merged),
      fallbacks: config.fallbackProviders.map((entry) => modelSettings(entry, config, merged)),
      auxiliary: auxiliaryModels(config, merged),
      refreshEnvironment: () => freshEnvironment(home, environment),
      extraBody: (provider) => providers[provider]?.extraBody,
      silenceMs: (provider) => milliseconds(providers[provider]?.staleTimeoutSeconds),
      retryMs: milliseconds(agent.retrySeconds),
      sampling: configuredSampling(config),
      prefillMessages: prefill.messages,
      approvals: config.approvals.mode,
      memory: configuredMemory(home, config.memory, clock),
      titlesByModel: environment["HERMES_TITLES"] === "model",
      memoryReviewTurns: config.memory.nudgeInterval,
      skills: configuredSkills(config),
      browser: { ...browser, allowPrivateUrls: browser.allowPrivateUrls ?? web.allowPrivateUrls },
      contextEngine: configuredEngine(config),
      commandSeconds: config.terminal.timeout,
      evaluation: config.evaluation.enabled,
      delegation: configuredDelegation(config, merged),
      web: { allowsPrivate: web.allowPrivateUrls, search: search.choice },
      scriptLimits: { timeoutSeconds: config.codeExecution.timeout, maxToolCalls: config.codeExecution.maxToolCalls },
      appendOnly: agent.appendOnly,
      maxIterations: Number(environment["HERMES_MAX_TURNS"]) || agent.maxTurns,
      surroundings: agent.codingContext !== "off",
      disabledToolsets: agent.disabledToolsets,
      enabledToolsets: toolsets,
    },
    variables: commandVariables(config, merged),
    pluginEngine: compression.enabled && !engines.has(context.engine) ? context.engine : undefined,
    endpoints: Object.keys(providers)
      .map((provider) => modelSettings({ provider }, config, merged))
      .filter(({ baseUrl }) => baseUrl !== undefined),
    stated: statedFacts(config, merged),
    warnings: [
      ...warnings,
      ...prefill.warnings,
      ...toolsetWarnings(toolsets),
      ...fallbackWarnings(config, merged),
      ...targetWarnings(compression),
      ...(search.warning === undefined ? [] : [search.warning]),
    ],
    errors,
  };
}

/** Toolsets of this start alone. A config.yaml whose protections cannot be read allows none of them. */
function statedToolsets(environment: Environment, errors: readonly string[]): readonly string[] | undefined {
  const names = environment["HERMES_TOOLSETS"]?.split(/[,\s]+/).filter((name) => name !== "");
  return names === undefined || names.length === 0 || errors.length > 0 ? undefined : names;
}

function configuredSkills({ skills, learning }: Config): NonNullable<AIAgentOptions["skills"]> {
  const useLearnt = learning.enabled && learning.distillation && learning.use;
  return { externalFolders: skills.externalDirs, disabled: skills.disabled, hubSources: skills.hubSources, useLearnt };
}

function configuredDelegation(config: Config, environment: Environment): DelegationSettings {
  const { delegation } = config;
  const model = delegation.model === undefined ? undefined : modelSettings(delegation, config, environment);
  return { ...delegation, model };
}

function statedFacts({ model }: Config, environment: Environment): StatedFacts {
  const { contextLength: contextWindow, supportsVision: images } = model ?? {};
  return {
    model: model?.default ?? model?.name ?? environment["HERMES_MODEL"],
    facts: { ...(contextWindow !== undefined && { contextWindow }), ...(images !== undefined && { images }) },
  };
}

function configuredSampling({ model, agent: { reasoningEffort } }: Config): Sampling {
  const { temperature, topP, maxTokens, stop } = model ?? {};
  return { temperature, topP, maxTokens, stop, reasoningEffort };
}

function toolsetWarnings(toolsets: readonly string[] = []): readonly string[] {
  const names = unsupportedToolsets(toolTable, toolsets);
  return names.length === 0 ? [] : [`config.yaml: toolsets without tools in this version: ${names.join(", ")}.`];
}

/** Warnings about fallbacks that would fail even with a key. */
function fallbackWarnings(config: Config, environment: Environment): readonly string[] {
  return config.fallbackProviders.flatMap((entry) => {
    const resolution = resolveModel(modelSettings(entry, config, environment), environment);
    if (resolution.ok || resolution.keyFor !== undefined) return [];
    return [`config.yaml: fallback_providers: ${resolution.message}`];
  });
}

function targetWarnings({ threshold, target = 0 }: Config["compression"]): readonly string[] {
  const maxTarget = Number((threshold * MAX_TARGET_SHARE).toFixed(4));
  if (target <= maxTarget) return [];
  const share = `${100 * MAX_TARGET_SHARE}% of compression.threshold`;
  return [`config.yaml: compression.target is ${target}, but at most ${share} is possible: ${maxTarget}.`];
}

const prefillSchema = z.array(z.object({ role: z.enum(["user", "assistant"]), content: z.string().min(1) }));

type Prefill = { readonly messages: readonly Message[]; readonly warnings: readonly string[] };

/** Messages that precede every conversation. A file that cannot be used causes a warning. */
async function prefillMessages(home: string, config: Config): Promise<Prefill> {
  const name = config.agent.prefillMessagesFile ?? config.prefillMessagesFile;
  if (name === undefined) return { messages: [], warnings: [] };
  const path = isAbsolute(name) ? name : join(home, name);
  const parsed = prefillSchema.safeParse(await readJsonFile(path));
  if (parsed.success) return { messages: parsed.data, warnings: [] };
  const expected =
    statOf(path) === undefined
      ? "There is no such file"
      : 'It must be a JSON list of messages: [{"role": "user", "content": "…"}, …]';
  return { messages: [], warnings: [`config.yaml: prefill_messages_file: ${path} was not used. ${expected}.`] };
}

/** Reads the files of the home again, because a key may have been renewed. */
async function freshEnvironment(home: string, environment: Environment): Promise<Environment> {
  const { config, environment: merged } = await loadConfig(home, environment);
  return withDefaults(config, merged);
}

/** The environment overrides config.yaml. */
function withDefaults(config: Config, environment: Environment): Environment {
  const defaults = { ...networkVariables(config.network), ...modelDefaults(config, environment) };
  // A shell's `NAME=` sets no value.
  const stated = Object.entries(environment).filter(([name, value]) => value?.trim() !== "" || !(name in defaults));
  return { ...defaults, ...Object.fromEntries(stated) };
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}

function configuredMemory(home: string, section: Config["memory"], clock: Clock): Memory | false {
  const { memoryEnabled: isEnabled, memoryCharLimit: memory, userCharLimit: user } = section;
  return isEnabled && new Memory({ folder: memoriesFolder(home), limits: { memory, user }, now: () => clock.now() });
}

type CompressionSection = Config["compression"];

const engines: ReadonlyMap<string, (section: CompressionSection) => ContextEngine> = new Map([
  ["default", builtIn],
  ["compressor", builtIn],
  ["none", manualEngine],
]);

/** The built-in engine, also as the fallback of a plugin's. */
function configuredEngine({ context, compression }: Pick<Config, "context" | "compression">): ContextEngine {
  const engine = compression.enabled ? (engines.get(context.engine) ?? builtIn) : manualEngine;
  return engine(compression);
}

function builtIn({ protectLastN: protectedMessages, strategy, ...limits }: CompressionSection): ContextEngine {
  return defaultEngine({ ...limits, protectedMessages }, strategy);
}

/** Never compresses by itself, only after the provider refused a request as too long or when the user asks for it. */
function manualEngine(section: CompressionSection): ContextEngine {
  return { ...builtIn(section), name: "none", shouldCompress: () => false };
}

/** Settings of a model. Its own entry overrides the section of its provider. */
function modelSettings(entry: ModelEntry, { providers }: Config, environment: Environment): ModelSettings {
  const section = entry.provider === undefined ? undefined : providers[entry.provider];
  return {
    provider: entry.provider,
    model: entry.model,
    baseUrl: entry.baseUrl ?? section?.baseUrl,
    apiMode: entry.apiMode ?? section?.apiMode,
    dialect: entry.dialect ?? section?.dialect,
    textCalls: section?.textCalls,
    apiKey: entry.apiKey ?? keyIn(entry.keyEnv, environment) ?? section?.apiKey ?? keyIn(section?.keyEnv, environment),
    keyVariable: entry.keyEnv ?? section?.keyEnv,
  };
}

/** Environment variables that select the model of config.yaml. */
function modelDefaults(config: Config, environment: Environment): Environment {
  const { model } = config;
  if (model === undefined) return {};
  const { provider, baseUrl, apiMode, dialect, apiKey } = model;
  const entry = { provider, baseUrl, apiMode, dialect, apiKey };
  const settings = modelSettings(entry, config, environment);
  return {
    HERMES_MODEL: model.default ?? model.name,
    HERMES_PROVIDER: provider,
    HERMES_BASE_URL: settings.baseUrl,
    HERMES_API_MODE: settings.apiMode,
    HERMES_DIALECT: settings.dialect,
    HERMES_TEXT_CALLS: settings.textCalls,
    HERMES_API_KEY: settings.apiKey,
  };
}

/** Models of the auxiliary tasks in config.yaml; `provider: auto` selects none. */
function auxiliaryModels(config: Config, environment: Environment): Readonly<Record<string, AuxiliaryModels>> {
  const tasks = Object.entries(config.auxiliary).flatMap(([task, section]) => {
    if (section === undefined) return [];
    const { timeout, fallbackChain: others, ...own } = section;
    const named = [own, ...others].filter(({ model, provider }) => model !== undefined && provider !== "auto");
    const models: AuxiliaryModels = {
      chain: named.map((entry) => modelSettings(entry, config, environment)),
      timeoutMs: milliseconds(timeout),
    };
    return [[task, models] as const];
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
  const names = config.terminal.envPassthrough;
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
  const tasks = Object.values(config.auxiliary).filter((task) => task !== undefined);
  const entries = [...config.fallbackProviders, ...tasks.flatMap((task) => [task, ...task.fallbackChain])];
  const configured = [...Object.values(config.providers), ...entries].map(({ keyEnv }) => keyEnv);
  const known = [...deployments.map(({ keyVariable }) => keyVariable), ...Object.values(SEARCH_VARIABLES)];
  return new Set(
    ["HERMES_API_KEY", "HERMES_PROXY", "HERMES_PROXY_AUTHORIZATION", ...known, ...configured].filter(
      (name) => name !== undefined,
    ),
  );
}
