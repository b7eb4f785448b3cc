/** Instructions of sub-folders: told once, with the result of the first call that touches their folder. */
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { presentFile } from "./context-file.ts";
import type { ContextFiles } from "./project-context.ts";

const NAMES = ["AGENTS.md", "CLAUDE.md", ".hermes.md", "HERMES.md"];
/** A path deeper than this in its workspace is looked at from its end. */
const MAX_FOLDERS = 8;

export class SubfolderContext {
  readonly #cwd: string;
  readonly #files: ContextFiles;
  readonly #known: Set<string>;

  constructor(cwd: string, files: ContextFiles) {
    this.#cwd = cwd;
    this.#files = files;
    // The working folder's own file is in the system prompt.
    this.#known = new Set([cwd]);
  }

  /** What the folders of these paths say that has not been said yet; empty when nothing is. Paths are absolute. */
  async of(paths: readonly string[]): Promise<string> {
    const fresh = new Set(paths.flatMap((path) => this.#foldersOf(path)));
    for (const folder of fresh) this.#known.add(folder);
    const texts = await Promise.all([...fresh].map((folder) => this.#instructions(folder)));
    return texts.filter((text) => text !== undefined).join("\n\n");
  }

  /** Folders between the working folder and the path, outermost first, without those that are known. */
  #foldersOf(path: string): readonly string[] {
    const folders: string[] = [];
    for (
      let folder = dirname(path);
      isBelow(folder, this.#cwd) && folders.length < MAX_FOLDERS;
      folder = dirname(folder)
    ) {
      if (!this.#known.has(folder)) folders.unshift(folder);
    }
    return folders;
  }

  async #instructions(folder: string): Promise<string | undefined> {
    for (const name of NAMES) {
      const path = join(folder, name);
      const text = await this.#files.read(path);
      if (text !== undefined) return presentFile(relative(this.#cwd, path), text);
    }
    return undefined;
  }
}

function isBelow(folder: string, root: string): boolean {
  const inside = relative(root, folder);
  return inside !== "" && !isAbsolute(inside) && inside !== ".." && !inside.startsWith(`..${sep}`);
}
