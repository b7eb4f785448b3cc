/** What `compression` of config.yaml means: the limits of the context window and how room is made. */
import type { Config } from "../config/sections.ts";
import type { ContextEngine } from "../context/context-engine.ts";
import { defaultEngine } from "../context/default-engine.ts";

export function configuredEngine(section: Config["compression"]): ContextEngine {
  const { enabled, threshold, soft_limit: softLimit, hard_limit: hardLimit, target, strategy } = section;
  const engine = defaultEngine({ threshold, softLimit, hardLimit, target }, strategy);
  // Switched off it still helps where the provider refuses a request as too long.
  return enabled ? engine : { ...engine, shouldCompress: () => false };
}
