/** What `context` and `compression` of config.yaml mean: the limits of the context window and how room is made. */
import type { Config } from "../config/sections.ts";
import { type ContextEngine, defaultEngine } from "../context/context-engine.ts";

type Section = Config["compression"];

const engines: Readonly<Record<Config["context"]["engine"], (section: Section) => ContextEngine>> = {
  default: builtIn,
  compressor: builtIn,
  none: helpsOnly,
};

export function configuredEngine({ context, compression }: Pick<Config, "context" | "compression">): ContextEngine {
  return compression.enabled ? engines[context.engine](compression) : helpsOnly(compression);
}

function builtIn({
  threshold,
  soft_limit: softLimit,
  hard_limit: hardLimit,
  target,
  strategy,
}: Section): ContextEngine {
  return defaultEngine({ threshold, softLimit, hardLimit, target }, strategy);
}

/** Never of itself; it still helps where the provider refuses a request as too long, or the user asks. */
function helpsOnly(section: Section): ContextEngine {
  return { ...builtIn(section), name: "none", shouldCompress: () => false };
}
