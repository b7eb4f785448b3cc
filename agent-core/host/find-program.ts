/** Programs of this machine. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/**
 * Absolute path of the first one with this name on `path` (default: PATH) that may be run; undefined when there is none.
 * Folders that depend on where one stands are passed over: a workspace must not bring a program of its own.
 */
export function findProgram(name: string, path: string = process.env["PATH"] ?? ""): string | undefined {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, file)).find(mayBeRun);
}

function mayBeRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // not there, or not for us
  }
}
