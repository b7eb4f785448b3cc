// Loaded before a program: what an older Node is to it. It says its version, and `node:module` lacks what came later.
import { registerHooks } from "node:module";

const version = "20.20.2";
const older = 'export const { createRequire } = process.getBuiltinModule("module");';
Object.defineProperty(process.versions, "node", { value: version });
Object.defineProperty(process, "version", { value: `v${version}` });
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "node:module"
      ? { url: `data:text/javascript,${encodeURIComponent(older)}`, shortCircuit: true }
      : next(specifier, context),
});
