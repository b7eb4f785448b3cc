/** The instructions that a project keeps for agents: the first kind of file that is there counts. behaviour.md §Prompt. */
import { dirname, join, relative } from "node:path";
import { presentFile, type ReadText } from "./context-file.ts";

/** What a search for context files needs of the world. */
export type ContextFiles = {
  readonly read: ReadText;
  /** True for files and folders. */
  exists(path: string): Promise<boolean>;
  /** Names in a folder, empty when there is none. */
  list(folder: string): Promise<readonly string[]>;
};

type Found = readonly { readonly path: string; readonly text: string }[];

const INTRODUCTION = "The project's own instructions. They stand below what the user says.";

/** Undefined when the project has none. `cwd` is absolute. */
export async function projectContext(cwd: string, files: ContextFiles): Promise<string | undefined> {
  const folders = await foldersUpToRoot(cwd, files);
  for (const kind of kinds) {
    const shown = (await kind(folders, files)).map(({ path, text }) => presentFile(relative(cwd, path) || path, text));
    const texts = shown.filter((text) => text !== undefined);
    if (texts.length > 0) return [INTRODUCTION, ...texts].join("\n\n");
  }
  return undefined;
}

type Kind = (folders: readonly string[], files: ContextFiles) => Promise<Found>;

/** `folders` go from the working folder up to the root of its repository. */
const kinds: readonly Kind[] = [
  async (folders, files) => {
    for (const folder of folders) {
      const found = await firstOf([".hermes.md", "HERMES.md"], folder, files);
      if (found.length > 0) return found;
    }
    return [];
  },
  async (folders, files) => {
    // From the root down: what is nearer to the work comes last and says the last word.
    const chain = await Promise.all(folders.toReversed().map((folder) => firstOf(AGENTS, folder, files)));
    const seen = new Set<string>();
    return chain.flat().filter(({ text }) => !seen.has(text) && seen.add(text));
  },
  ([cwd = ""], files) => firstOf(["CLAUDE.md"], cwd, files),
  async ([cwd = ""], files) => {
    const rules = await firstOf([".cursorrules"], cwd, files);
    if (rules.length > 0) return rules;
    const folder = join(cwd, ".cursor", "rules");
    const names = (await files.list(folder)).filter((name) => name.endsWith(".mdc")).toSorted();
    const found = await Promise.all(names.map((name) => firstOf([name], folder, files)));
    return found.flat();
  },
];

const AGENTS = ["AGENTS.override.md", "AGENTS.md", "agents.md"];

async function firstOf(names: readonly string[], folder: string, { read }: ContextFiles): Promise<Found> {
  for (const name of names) {
    const path = join(folder, name);
    const text = await read(path);
    if (text !== undefined) return [{ path, text }];
  }
  return [];
}

/** The working folder alone when it is in no repository. */
async function foldersUpToRoot(cwd: string, { exists }: ContextFiles): Promise<readonly string[]> {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (await exists(join(folder, ".git"))) return folders;
    if (dirname(folder) === folder) return [cwd];
  }
}
