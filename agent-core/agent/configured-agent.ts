/** Options of an agent from the user's home folder and environment. The environment overrides config.yaml. */
import { isAbsolute, join } from "node:path";
import * as z from "zod";
import { loadConfig } from "../config/config.ts";
import { type Environment, homeFolder, memoriesFolder } from "../config/home.ts";
import { readJsonFile } from "../config/home-file.ts";
import type { Config, ModelEntry } from "../config/sections.ts";
import type { TerminalConfig } from "../config/terminal-section.ts";
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
import type { AuxiliaryModels } from "./auxiliary.ts";

/** `model`: name of the model at its provider; undefined when neither config.yaml nor HERMES_MODEL names one. */
export type StatedFacts = { readonly model: string | undefined; readonly facts: ModelFacts };

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
    | "extraBody"
    | "retryMs"
    | "sampling"
    | "contextEngine"
    | "approvals"
    | "memory"
    | "memoryReviewTurns"
    | "skills"
    | "browser"
    | "commandSeconds"
    | "scriptLimits"
    | "evaluation"
    | "delegation"
    | "web"
    | "prefillMessages"
    | "surroundings"
    | "clock"
  >;
  /** Settings of the place that runs commands. */
  readonly terminal: TerminalConfig;
  /** Changes to the environment of commands. */
  readonly variables: CommandVariables;
  readonly plugins: Config["plugins"];
  readonly learning: Config["learning"];
  /** `skills.write_approval`: a learnt skill, and each change of one, waits for the user's consent. */
  readonly asksForSkills: boolean;
  readonly cron: Config["cron"];
  /** Name of a plugin's context engine; undefined for a built-in one. */
  readonly pluginEngine: string | undefined;
  /** Endpoints from the section `providers` of config.yaml. */
  readonly endpoints: readonly ModelSettings[];
  /** Facts about the model of config.yaml that precede those of its endpoint. */
  readonly stated: StatedFacts;
  /** The section `mcp_servers` of config.yaml. */
  readonly mcpServers: Config["mcp_servers"];
  /** The section `hooks` of config.yaml, and `hooks_auto_accept`. */
  readonly hooks: { readonly section: Config["hooks"]; readonly autoAccept: boolean };
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
  const { plugins, learning, cron } = config;
  const toolsets = config.platform_toolsets[platform] ?? config.toolsets;
  const { backend, search_backend: searchBackend = backend, base_url: baseUrl } = config.web;
  const search = chooseSearch({ backend: searchBackend, baseUrl }, merged);
  const prefill = await prefillMessages(home, config);
  return {
    options: {
      home,
      clock,
      environment: withDefaults(config, merged),
      fallbacks: config.fallback_providers.map((entry) => modelSettings(entry, config, merged)),
      auxiliary: auxiliaryModels(config, merged),
      refreshEnvironment: () => freshEnvironment(home, environment),
      extraBody: (provider) => config.providers[provider]?.extra_body,
      silenceMs: (provider) => milliseconds(config.providers[provider]?.stale_timeout_seconds),
      ...(config.agent.retry_seconds !== undefined && { retryMs: config.agent.retry_seconds * 1_000 }),
      sampling: configuredSampling(config),
      ...(prefill.messages.length > 0 && { prefillMessages: prefill.messages }),
      approvals: config.approvals.mode,
      memory: configuredMemory(home, config.memory, clock),
      memoryReviewTurns: config.memory.nudge_interval,
      skills: configuredSkills(config),
      browser: configuredBrowser(config),
      contextEngine: configuredEngine(config),
      commandSeconds: config.terminal.timeout,
      ...(config.evaluation.enabled !== undefined && { evaluation: config.evaluation.enabled }),
      delegation: configuredDelegation(config, merged),
      web: { allowsPrivate: config.web.allow_private_urls, search: search.choice },
      scriptLimits: {
        timeoutSeconds: config.code_execution.timeout,
        maxToolCalls: config.code_execution.max_tool_calls,
      },
      maxIterations: config.agent.max_turns,
      surroundings: config.agent.coding_context !== "off",
      disabledToolsets: config.agent.disabled_toolsets,
      ...(toolsets !== undefined && { enabledToolsets: toolsets }),
    },
    terminal: config.terminal,
    variables: commandVariables(config, merged),
    plugins,
    learning,
    cron,
    asksForSkills: config.skills.write_approval,
    pluginEngine: config.compression.enabled && !engines.has(config.context.engine) ? config.context.engine : undefined,
    endpoints: Object.keys(config.providers)
      .map((provider) => modelSettings({ provider }, config, merged))
      .filter(({ baseUrl }) => baseUrl !== undefined),
    stated: statedFacts(config, merged),
    mcpServers: config.mcp_servers,
    hooks: { section: config.hooks, autoAccept: config.hooks_auto_accept },
    warnings: [
      ...warnings,
      ...prefill.warnings,
      ...toolsetWarnings(toolsets),
      ...fallbackWarnings(config, merged),
      ...targetWarnings(config.compression),
      ...(search.warning === undefined ? [] : [search.warning]),
    ],
    errors,
  };
}

function configuredSkills({ skills, learning }: Config): NonNullable<AIAgentOptions["skills"]> {
  return {
    externalFolders: skills.external_dirs,
    disabled: skills.disabled,
    useLearnt: learning.enabled && learning.distillation && learning.use,
    ...(skills.hub_sources !== undefined && { hubSources: skills.hub_sources }),
  };
}

function configuredBrowser({ browser, web }: Config): NonNullable<AIAgentOptions["browser"]> {
  return {
    executable: browser.executable,
    headless: browser.headless,
    idleSeconds: browser.inactivity_timeout,
    allowPrivate: browser.allow_private_urls ?? web.allow_private_urls,
  };
}

function configuredDelegation(config: Config, environment: Environment): DelegationSettings {
  const { delegation } = config;
  const { model, provider, base_url, api_key } = delegation;
  const entry: ModelEntry = {
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(base_url !== undefined && { base_url }),
    ...(api_key !== undefined && { api_key }),
  };
  const { child_timeout_seconds: timeoutSeconds } = delegation;
  return {
    maxIterations: delegation.max_iterations,
    maxConcurrent: delegation.max_concurrent_children,
    maxDepth: delegation.max_depth,
    sharesBudget: delegation.share_budget,
    ...(model !== undefined && { model: modelSettings(entry, config, environment) }),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
  };
}

function statedFacts({ model: section }: Config, environment: Environment): StatedFacts {
  const {
    default: model = section?.name ?? environment["HERMES_MODEL"],
    context_length: contextWindow,
    supports_vision: images,
  } = section ?? {};
  return {
    model,
    facts: { ...(contextWindow !== undefined && { contextWindow }), ...(images !== undefined && { images }) },
  };
}

function configuredSampling({ model, agent }: Config): Sampling {
  const { temperature, top_p: topP, max_tokens: maxTokens, stop } = model ?? {};
  const { reasoning_effort: reasoningEffort } = agent;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(stop !== undefined && { stop }),
    ...(reasoningEffort !== undefined && { reasoningEffort }),
  };
}

function toolsetWarnings(toolsets: readonly string[] = []): readonly string[] {
  const names = unsupportedToolsets(toolTable, toolsets);
  return names.length === 0 ? [] : [`config.yaml: toolsets without tools in this version: ${names.join(", ")}.`];
}

/** Warnings about fallbacks that would fail even with a key. */
function fallbackWarnings(config: Config, environment: Environment): readonly string[] {
  return config.fallback_providers.flatMap((entry) => {
    const resolution = resolveModel(modelSettings(entry, config, environment), environment);
    if (resolution.ok || resolution.keyFor !== undefined) return [];
    return [`config.yaml: fallback_providers: ${resolution.message}`];
  });
}

function targetWarnings({ threshold, target = 0 }: Config["compression"]): readonly string[] {
  const maxTarget = Number((threshold * MAX_TARGET_SHARE).toFixed(4));
  if (target <= maxTarget) return [];
  const share = `${100 * MAX_TARGET_SHARE} % of compression.threshold`;
  return [`config.yaml: compression.target is ${target}, but at most ${share} is possible: ${maxTarget}.`];
}

const prefillSchema = z.array(z.object({ role: z.enum(["user", "assistant"]), content: z.string().min(1) }));

type Prefill = { readonly messages: readonly Message[]; readonly warnings: readonly string[] };

/** Messages that precede every conversation. A file that cannot be used causes a warning. */
async function prefillMessages(home: string, config: Config): Promise<Prefill> {
  const name = config.agent.prefill_messages_file ?? config.prefill_messages_file;
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

function configuredMemory(home: string, section: Config["memory"], clock: Clock): Memory | false {
  const { memory_enabled: isEnabled, memory_char_limit: memory, user_char_limit: user } = section;
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

function builtIn({ by_task: byTask, ...section }: CompressionSection): ContextEngine {
  const engine = limitedEngine(section);
  if (byTask === undefined) return engine;
  return {
    ...engine,
    forTask: (type) => {
      const limits = byTask[type];
      return limits === undefined ? engine : limitedEngine({ ...section, ...limits });
    },
  };
}

function limitedEngine({
  threshold,
  soft_limit: softLimit,
  hard_limit: hardLimit,
  target,
  protect_last_n: protectedMessages,
  strategy,
}: CompressionSection): ContextEngine {
  return defaultEngine({ threshold, softLimit, hardLimit, target, protectedMessages }, strategy);
}

/** Never compresses by itself, only after the provider refused a request as too long or when the user asks for it. */
function manualEngine(section: CompressionSection): ContextEngine {
  return { ...limitedEngine(section), name: "none", shouldCompress: () => false };
}

/** Settings of a model. Its own entry overrides the section of its provider. */
function modelSettings(entry: ModelEntry, { providers }: Config, environment: Environment): ModelSettings {
  const section = entry.provider === undefined ? undefined : providers[entry.provider];
  const baseUrl = entry.base_url ?? section?.base_url;
  const apiMode = entry.api_mode ?? section?.api_mode;
  const dialect = entry.dialect ?? section?.dialect;
  const apiKey =
    entry.api_key ?? keyIn(entry.key_env, environment) ?? section?.api_key ?? keyIn(section?.key_env, environment);
  const keyVariable = entry.key_env ?? section?.key_env;
  return {
    ...(entry.provider !== undefined && { provider: entry.provider }),
    ...(entry.model !== undefined && { model: entry.model }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(apiMode !== undefined && { apiMode }),
    ...(dialect !== undefined && { dialect }),
    ...(section?.text_calls !== undefined && { textCalls: section.text_calls }),
    ...(apiKey !== undefined && { apiKey }),
    ...(keyVariable !== undefined && { keyVariable }),
  };
}

/** Environment variables that select the model of config.yaml. */
function modelDefaults(config: Config, environment: Environment): Environment {
  const { model } = config;
  if (model === undefined) return {};
  const { provider, base_url: url, api_mode: mode, api_key: key, dialect: named } = model;
  const entry: ModelEntry = {
    ...(provider && { provider }),
    ...(url && { base_url: url }),
    ...(mode && { api_mode: mode }),
    ...(named && { dialect: named }),
    ...(key && { api_key: key }),
  };
  const { baseUrl, apiMode, apiKey, dialect, textCalls } = modelSettings(entry, config, environment);
  return {
    HERMES_MODEL: model.default ?? model.name,
    HERMES_PROVIDER: provider,
    HERMES_BASE_URL: baseUrl,
    HERMES_API_MODE: apiMode,
    HERMES_DIALECT: dialect,
    HERMES_TEXT_CALLS: textCalls,
    HERMES_API_KEY: apiKey,
  };
}

/** Models of the auxiliary tasks in config.yaml; `provider: auto` selects none. */
function auxiliaryModels(config: Config, environment: Environment): Readonly<Record<string, AuxiliaryModels>> {
  const tasks = Object.entries(config.auxiliary).flatMap(([task, section]) => {
    if (section === undefined) return [];
    const { timeout, fallback_chain: others, ...own } = section;
    const named = [own, ...others].filter(({ model, provider }) => model !== undefined && provider !== "auto");
    const models: AuxiliaryModels = {
      chain: named.map((entry) => modelSettings(entry, config, environment)),
      ...(timeout !== undefined && { timeoutMs: timeout * 1_000 }),
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
  const tasks = Object.values(config.auxiliary).filter((task) => task !== undefined);
  const entries = [...config.fallback_providers, ...tasks.flatMap((task) => [task, ...task.fallback_chain])];
  const configured = [...Object.values(config.providers), ...entries].map((entry) => entry.key_env);
  const known = [...deployments.map(({ keyVariable }) => keyVariable), ...Object.values(SEARCH_VARIABLES)];
  return new Set(
    ["HERMES_API_KEY", "HERMES_PROXY", "HERMES_PROXY_AUTHORIZATION", ...known, ...configured].filter(
      (name) => name !== undefined,
    ),
  );
}
