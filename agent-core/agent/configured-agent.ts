/** What the user's home folder and environment mean for an agent; the environment stands over config.yaml. */
import { type Config, loadConfig } from "../config/config.ts";
import { type Environment, homeFolder } from "../config/home.ts";
import type { TerminalConfig } from "../config/terminal-config.ts";
import type { AIAgentOptions } from "./agent-setup.ts";

export type ConfiguredAgent = {
  readonly options: Pick<
    AIAgentOptions,
    "home" | "environment" | "maxIterations" | "disabledToolsets" | "enabledToolsets"
  >;
  /** Where commands run. */
  readonly terminal: TerminalConfig;
  /** One line for people for each thing of the configuration that could not be used. */
  readonly warnings: readonly string[];
};

/** `platform` is the key of `platform_toolsets` that holds here: `acp`, `cli`. */
export async function configuredAgent(environment: Environment, platform: string): Promise<ConfiguredAgent> {
  const home = homeFolder(environment);
  const { config, environment: merged, warnings } = await loadConfig(home, environment);
  const toolsets = config.platform_toolsets[platform] ?? config.toolsets;
  return {
    options: {
      home,
      environment: { ...modelDefaults(config), ...merged },
      maxIterations: config.agent.max_turns,
      disabledToolsets: config.agent.disabled_toolsets,
      ...(toolsets !== undefined && { enabledToolsets: toolsets }),
    },
    terminal: config.terminal,
    warnings,
  };
}

/** config.yaml's model as the environment variables that would say the same. */
function modelDefaults({ model }: Config): Environment {
  if (model === undefined) return {};
  const section: Record<string, string | undefined> = model;
  return {
    HERMES_MODEL: section["default"] ?? section["name"],
    HERMES_PROVIDER: section["provider"],
    HERMES_BASE_URL: section["base_url"],
    HERMES_API_MODE: section["api_mode"],
    HERMES_API_KEY: section["api_key"],
  };
}
