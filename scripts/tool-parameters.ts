/**
 * Puts the JSON schemas of tools' arguments into the bundles, made from the tools themselves. Making them takes as long
 * as everything else that the agent does for its first request.
 */
import type { Plugin } from "esbuild";
import { table } from "../agent-core/tools/table.gen.ts";

export const bundledToolParameters: Plugin = {
  name: "bundled-tool-parameters",
  setup(build) {
    build.onLoad({ filter: /[\\/]agent-core[\\/]tools[\\/]tool-parameters\.ts$/ }, () => ({
      contents: toolParametersModule(),
    }));
  },
};

/** Module that exports the function of agent-core/tools/tool-parameters.ts, with all results known. */
export function toolParametersModule(): string {
  const known = Object.fromEntries(table.map(({ schema }) => [schema.name, schema.parameters]));
  return `const known = ${JSON.stringify(known)};\nexport const toolParameters = (name) => known[name];\n`;
}
