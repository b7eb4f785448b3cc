/** Loads the packaged extension in this process, with another module as `vscode`. */
import { createRequire, registerHooks } from "node:module";
import { join } from "node:path";
import { projectFolder } from "../../../scripts/project.ts";

const require = createRequire(import.meta.url);
const bundle = join(projectFolder, "dist", "extension.cjs");

/** The module that the extension's bundle exports. */
export type Extension = { activate(context: object): void; deactivate(): Promise<void> };

/** Loads the bundle anew: its modules keep state, as in a window of VS Code. `unload` is called at its end. */
export function loadExtension(api: object): { readonly extension: Extension; readonly unload: () => void } {
  loads += 1;
  const key = `thin:vscode-${loads}`;
  const modules = globalThis as unknown as Record<string, object>;
  modules[key] = api;
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "vscode" ? { url: key, format: "commonjs", shortCircuit: true } : next(specifier, context),
    load: (url, context, next) =>
      url === key
        ? { format: "commonjs", source: `module.exports = globalThis["${key}"]`, shortCircuit: true }
        : next(url, context),
  });
  const unload = (): void => {
    hooks.deregister();
    // Else the next bundle is given the modules of this one.
    for (const loaded of [bundle, key]) delete require.cache[loaded];
    delete modules[key];
  };
  return { extension: require(bundle) as Extension, unload }; // what extension/extension.ts exports
}

let loads = 0;
