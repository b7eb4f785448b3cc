/**
 * Makes the schemas of the protocol's library when they are first used. By itself it makes all of them as it is loaded,
 * also those of what only a client is told: a tenth of the time from an agent's start to its first answer.
 */
import { readFileSync } from "node:fs";

/** One generated statement: a schema's name and what makes it. */
const SCHEMA = /^export const (z\w+) = ([\s\S]*?);$(?=\n(?:\/\*\*|export |\/\/#))/gm;

export const lazyAcpSchemas = {
  name: "lazy-acp-schemas",
  setup(build) {
    build.onLoad({ filter: /agent-client-protocol[\\/]dist[\\/]v1[\\/]schema[\\/]zod\.gen\.js$/ }, ({ path }) => ({
      contents: lazySchemas(readFileSync(path, "utf8")),
    }));
  },
};

/** Throws when the file is not what it was written for: a new version of the library is no reason to lose this unseen. */
function lazySchemas(source) {
  const all = source.match(/^export /gm)?.length ?? 0;
  let made = 0;
  const lazy = source.replace(SCHEMA, (_, name, schema) => {
    made += 1;
    return `export const ${name} = /* @__PURE__ */ z.lazy(() => ${schema});`;
  });
  if (made === 0 || made !== all) throw new Error(`${made} of ${all} schemas of the ACP library were made lazy.`);
  return lazy;
}
