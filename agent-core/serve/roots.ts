/** Folders that sessions may work in. Links, `..` and the case of names are resolved before the comparison. */
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { pathBelow } from "../platform/paths.ts";

export class Roots {
  /** As given, absolute. */
  readonly folders: readonly string[];
  readonly #real: readonly string[];

  /** Empty: all folders. Throws an Error in one line for a folder that does not exist. */
  constructor(folders: readonly string[]) {
    this.folders = folders.map((folder) => resolve(folder));
    this.#real = this.folders.map((folder) => {
      try {
        return realpathSync.native(folder);
      } catch {
        throw new Error(`the root ${folder} does not exist; create it, or correct --root`);
      }
    });
  }

  /** The parameters with real folders. Throws an Error in one line, which names the roots, for a folder outside of them. */
  checked(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const { cwd, additionalDirectories } = params;
    return {
      ...params,
      ...(typeof cwd === "string" && { cwd: this.#inside(cwd) }),
      ...(Array.isArray(additionalDirectories) && {
        additionalDirectories: additionalDirectories.map((folder) => this.#inside(String(folder))),
      }),
    };
  }

  #inside(folder: string): string {
    if (this.#real.length === 0 || !isAbsolute(folder)) return folder; // the agent refuses a relative one
    const real = realFolder(folder);
    if (real !== undefined && this.#real.some((root) => pathBelow(root, real) !== undefined)) return real;
    throw new Error(`${JSON.stringify(folder)} is outside the folders of this server: ${this.folders.join(", ")}`);
  }
}

/** Of a folder that does not exist, the real path of its nearest ancestor with the rest. Undefined for a link to nowhere. */
function realFolder(folder: string): string | undefined {
  try {
    return realpathSync.native(folder);
  } catch {
    if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true) return undefined;
    const parent = realFolder(dirname(folder));
    return parent === undefined ? undefined : join(parent, basename(folder));
  }
}
