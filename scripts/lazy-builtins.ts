/**
 * Loads some of Node's modules at the first call of their functions. Their code takes 10 ms of a start, and `import` reads
 * all members of a module, which loads more of them. `promisify` works on the functions as on Node's own.
 */
import { promisify } from "node:util";
import type { Plugin } from "esbuild";

const BUILTINS = ["node:child_process", "node:crypto", "node:util", "node:zlib"];

export const lazyBuiltins: Plugin = {
  name: "lazy-builtins",
  setup(build) {
    const filter = new RegExp(`^(?:${BUILTINS.join("|")})$`);
    build.onResolve({ filter }, ({ path, kind, importer }) =>
      kind === "import-statement" && /[\\/](?:agent-core|cli)[\\/]/.test(importer)
        ? { path, namespace: "lazy-builtins" }
        : null,
    );
    build.onLoad({ filter, namespace: "lazy-builtins" }, async ({ path }) => ({ contents: await lazyModule(path) }));
  },
};

/** Module with the functions of the built-in module `name`. An import of anything else fails the build. */
export async function lazyModule(name: string): Promise<string> {
  const members: Readonly<Record<string, unknown>> = await import(name);
  const functions = Object.entries(members).filter(
    ([key, member]) => key !== "default" && isPlainFunction(key, member),
  );
  return [
    `const load = () => process.getBuiltinModule(${JSON.stringify(name)});`,
    ...functions.map(([key, member]) => exported(key, promisify.custom in Object(member))),
  ].join("\n");
}

/** A class would lose its prototype. */
function isPlainFunction(name: string, member: unknown): boolean {
  return typeof member === "function" && !/^[A-Z]/.test(name);
}

function exported(name: string, hasPromise: boolean): string {
  const call = `(...values) => load().${name}(...values)`;
  if (!hasPromise) return `export const ${name} = ${call};`;
  const promised = `(...values) => process.getBuiltinModule("node:util").promisify(load().${name})(...values)`;
  return `export const ${name} = /* @__PURE__ */ Object.assign(${call}, { [Symbol.for("nodejs.util.promisify.custom")]: ${promised} });`;
}
