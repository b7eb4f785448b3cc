import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { attempt } from "./errors.ts";

/**
 * Absolute path of the first executable file with this name on `path` (default: PATH). Relative folders are ignored, because
 * a workspace must not provide the program.
 */
export function findProgram(name: string, path: string = process.env["PATH"] ?? ""): string | undefined {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, file)).find(canRun);
}

/** Developer tools of macOS. Without them its `python3` only opens a window that offers to install them. */
const DEVELOPER_TOOLS = ["/Library/Developer/CommandLineTools", "/Applications/Xcode.app"];

/** True when there is a Python 3 on PATH that runs scripts. */
export function hasPython(): boolean {
  const path = findProgram("python3");
  const isOffer = process.platform === "darwin" && path === "/usr/bin/python3" && !DEVELOPER_TOOLS.some(existsSync);
  return path !== undefined && !isOffer;
}

/** Program and arguments of a command line. Quotes keep spaces, and backslashes stay, for paths of Windows. */
export function commandWords(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? "",
  );
}

/** True for an executable file. */
export function canRun(path: string): boolean {
  return attempt(() => accessSync(path, constants.X_OK) ?? statSync(path).isFile()) === true;
}
