import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/**
 * Absolute path of the first executable file with this name on `path` (default: PATH). Relative folders are ignored, because
 * a workspace must not provide the program.
 */
export function findProgram(name: string, path: string = process.env["PATH"] ?? ""): string | undefined {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, file)).find(canRun);
}

/** True for an executable file. */
export function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // missing, or not executable
  }
}
