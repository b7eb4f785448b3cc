// Makes Node look older to the program that is loaded next: an earlier version, and a `node:module` without new exports.
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
