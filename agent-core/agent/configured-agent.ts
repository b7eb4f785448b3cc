/** What the user's home folder and environment mean for an agent; the environment stands over config.yaml. */
import { loadConfig } from "../config/config.ts";
import { type Environment, homeFolder, memoriesFolder } from "../config/home.ts";
import type { Config } from "../config/sections.ts";
import type { TerminalConfig } from "../config/terminal-config.ts";
import type { CommandVariables } from "../host/terminals/backend.ts";
import { Memory } from "../memory/memory.ts";
import type { ModelSettings } from "../providers/resolve.ts";
import type { AIAgentOptions } from "./agent-setup.ts";
import { configuredEngine } from "./configured-engine.ts";
import { auxiliaryModels, modelDefaults, modelSettings } from "./configured-models.ts";
import { commandVariables } from "./configured-variables.ts";

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
    | "sampling"
    | "contextEngine"
    | "approvals"
    | "memory"
    | "commandSeconds"
  >;
  /** Where commands run. */
  readonly terminal: TerminalConfig;
  /** What commands get of the agent's environment. */
  readonly variables: CommandVariables;
  /** Endpoints that config.yaml describes under `providers`. */
  readonly places: readonly ModelSettings[];
  /** One line for people for each thing of the configuration that could not be used. */
  readonly warnings: readonly string[];
};

/** `platform` is the key of `platform_toolsets` that holds here: `acp`, `cli`. */
export async function configuredAgent(environment: Environment, platform: string): Promise<ConfiguredAgent> {
  const home = homeFolder(environment);
  const { config, environment: merged, warnings } = await loadConfig(home, environment);
  const toolsets = config.platform_toolsets[platform] ?? config.toolsets;
  const effort = config.agent.reasoning_effort;
  return {
    options: {
      home,
      environment: { ...modelDefaults(config, merged), ...merged },
      fallbacks: config.fallback_providers.map((entry) => modelSettings(entry, config, merged)),
      auxiliary: auxiliaryModels(config, merged),
      refreshEnvironment: () => freshEnvironment(home, environment),
      silenceMs: (provider) => milliseconds(config.providers[provider]?.stale_timeout_seconds),
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

/** The files of the home are read again: a key may have been renewed since. */
async function freshEnvironment(home: string, environment: Environment): Promise<Environment> {
  const { config, environment: merged } = await loadConfig(home, environment);
  return { ...modelDefaults(config, merged), ...merged };
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}

function configuredMemory(home: string, section: Config["memory"]): Memory | false {
  const { memory_enabled: isEnabled, memory_char_limit: memory, user_char_limit: user } = section;
  return isEnabled && new Memory({ folder: memoriesFolder(home), limits: { memory, user } });
}
