/** What config.yaml means for the environment of commands: the agent's keys stay with the agent unless they are passed on. */
import type { Environment } from "../config/home.ts";
import type { Config, ModelEntry } from "../config/sections.ts";
import type { CommandVariables } from "../host/terminals/backend.ts";
import { deployments } from "../providers/deployments.ts";

/** `environment` is the process's own over the home's `.env`: what is passed on may stand in either. */
export function commandVariables(config: Config, environment: Environment): CommandVariables {
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
  return new Set(["HERMES_API_KEY", ...known, ...configured].filter((name) => name !== undefined));
}
