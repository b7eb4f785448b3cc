/**
 * Puts results into the bundles that depend on nothing but the sources: the JSON schemas of tools' arguments, and the
 * sections that config.yaml leaves out. Making the schemas takes as long as everything else that the agent does for its
 * first request. Building the zod schemas of all sections takes 3 ms of each start.
 */
import type { Plugin } from "esbuild";
import { directoryTools } from "../agent-core/agent/tool-catalogue.ts";
import { sectionDefault } from "../agent-core/config/section-defaults.ts";
import { type SectionName, sections } from "../agent-core/config/sections.ts";
import { table } from "../agent-core/tools/table.gen.ts";

export const readyMade: Plugin = {
  name: "ready-made",
  setup(build) {
    build.onLoad({ filter: /[\\/]agent-core[\\/]tools[\\/]tool-parameters\.ts$/ }, () => ({
      contents: toolParametersModule(),
    }));
    build.onLoad({ filter: /[\\/]agent-core[\\/]config[\\/]section-defaults\.ts$/ }, () => ({
      contents: sectionDefaultsModule(),
    }));
  },
};

/** Module that exports the function of agent-core/tools/tool-parameters.ts, with all results known. */
export function toolParametersModule(): string {
  return knownResults(
    "toolParameters",
    [...table, ...directoryTools([], 0)].map(({ schema }) => [schema.name, schema.parameters]),
  );
}

/** Module that exports the function of agent-core/config/section-defaults.ts, with all results known. */
export function sectionDefaultsModule(): string {
  const names = Object.keys(sections) as SectionName[]; // a literal has no other keys
  return knownResults(
    "sectionDefault",
    names.map((name) => [name, sectionDefault(name)]),
  );
}

function knownResults(name: string, results: readonly (readonly [string, unknown])[]): string {
  const known = Object.fromEntries(results.map(([key, result]) => [key, result ?? null]));
  return `const known = ${JSON.stringify(known)};
export function ${name}(name) {
  if (!Object.hasOwn(known, name)) throw new Error("The build holds no ${name} of " + name + ": see scripts/ready-made.ts.");
  return known[name] ?? undefined;
}
`;
}
