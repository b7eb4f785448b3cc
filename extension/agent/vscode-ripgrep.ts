/** Finds the ripgrep of VS Code's own search. */
import { join } from "node:path";
import { canRun } from "../../agent-core/platform/find-program.ts";

/** Desktop builds unpack native programs next to their archive; servers have ordinary folders. */
const MODULES = ["node_modules.asar.unpacked", "node_modules"];

/** Absolute path of the program in VS Code's installation `appRoot`; undefined where a build has none. */
export function vscodeRipgrep(appRoot: string): string | undefined {
  const file = process.platform === "win32" ? "rg.exe" : "rg";
  const target = `${process.platform}-${process.arch}`;
  // VS Code 1.109 has @vscode/ripgrep, 1.139 @vscode/ripgrep-universal with a folder for each platform.
  const packages = [join("ripgrep-universal", "bin", target), join("ripgrep", "bin", target), join("ripgrep", "bin")];
  return MODULES.flatMap((modules) => packages.map((name) => join(appRoot, modules, "@vscode", name, file))).find(
    canRun,
  );
}
