/** Instructions of a project for agents. Of several kinds of instruction files only the first that exists is used. */
import { dirname, join, relative } from "node:path";
import { pathBelow } from "../platform/paths.ts";
import { findThreat, wrapData } from "./injection-scan.ts";

/** Reads a file's text as the user sees it; undefined for a missing file and for a file without text. */
export type ReadText = (path: string) => Promise<string | undefined>;

/** File access for the search of instruction files. */
export type ContextFiles = {
  readonly read: ReadText;
  /** True for files and folders. */
  exists(path: string): Promise<boolean>;
  /** Names in a folder; empty for a missing folder. */
  list(folder: string): Promise<readonly string[]>;
};

type Found = readonly { readonly path: string; readonly text: string }[];

const AGENTS = ["AGENTS.override.md", "AGENTS.md", "agents.md"];
/** Instruction files of a subfolder; only the first that exists is used. */
const SUBFOLDER_FILES = ["AGENTS.md", "CLAUDE.md", ".hermes.md", "HERMES.md"];
/** Folders that are checked above a path. */
const MAX_FOLDERS = 8;

/** Limit of one file in a prompt. Characters. */
const MAX_CHARS = 20_000;
/** Parts of the limit for the beginning and the end of a longer file. */
const HEAD = 0.7;
const TAIL = 0.2;
/** Name of the element around the file's text. */
const TAG = "project_instructions";

const FRONT_MATTER = /^---\r?\n[\s\S]*?\r?\n---\r?\n/;

/** First words of the instructions in a prompt. */
export const INSTRUCTIONS_HEAD = "The project's own instructions. The user's messages take precedence over them.";

/** Instructions for a session in the absolute folder `cwd`; undefined for a project without any. */
export async function projectContext(cwd: string, files: ContextFiles): Promise<string | undefined> {
  const folders = await foldersUpToRoot(cwd, files);
  for (const kind of kinds) {
    const shown = (await kind(folders, files)).map(({ path, text }) => presentFile(relative(cwd, path) || path, text));
    const texts = shown.filter((text) => text !== undefined);
    if (texts.length > 0) return [INSTRUCTIONS_HEAD, ...texts].join("\n\n");
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
    // From the root down: the last file is nearest to the work, and prevails.
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

async function firstOf(names: readonly string[], folder: string, { read }: ContextFiles): Promise<Found> {
  for (const name of names) {
    const path = join(folder, name);
    const text = await read(path);
    if (text !== undefined) return [{ path, text }];
  }
  return [];
}

/** Outside a repository, only the working folder. */
async function foldersUpToRoot(cwd: string, { exists }: ContextFiles): Promise<readonly string[]> {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (await exists(join(folder, ".git"))) return folders;
    if (dirname(folder) === folder) return [cwd];
  }
}

/** Instructions of subfolders. The model gets each once, with the result of the first call that touches its folder. */
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

  /** New instructions for these absolute paths: those of their folders that the model does not have yet. */
  async of(paths: readonly string[]): Promise<string> {
    const fresh = new Set(paths.flatMap((path) => this.#foldersOf(path)));
    for (const folder of fresh) this.#known.add(folder);
    const texts = await Promise.all([...fresh].map((folder) => this.#instructions(folder)));
    return texts.filter((text) => text !== undefined).join("\n\n");
  }

  /** Unchecked folders between the working folder and the path, outermost first. */
  #foldersOf(path: string): readonly string[] {
    const folders: string[] = [];
    for (
      let folder = dirname(path);
      pathBelow(this.#cwd, folder) && folders.length < MAX_FOLDERS;
      folder = dirname(folder)
    ) {
      if (!this.#known.has(folder)) folders.unshift(folder);
    }
    return folders;
  }

  async #instructions(folder: string): Promise<string | undefined> {
    for (const name of SUBFOLDER_FILES) {
      const path = join(folder, name);
      const text = await this.#files.read(path);
      if (text !== undefined) return presentFile(relative(this.#cwd, path), text);
    }
    return undefined;
  }
}

/** Text of an instruction file: scanned, cut and marked as data. `shown` is its name. Undefined for an empty file. */
function presentFile(shown: string, text: string): string | undefined {
  const body = text.replace(FRONT_MATTER, "").trim();
  if (body === "") return undefined;
  const threat = findThreat(body);
  if (threat !== undefined) return `[${shown} was left out: it contains ${threat}. Tell the user when it matters.]`;
  return wrapData(TAG, shown, cutText(body, shown));
}

/** Keeps most of the beginning and some of the end. `path` is the file with the whole text, for the model. */
function cutText(text: string, path: string): string {
  if (text.length <= MAX_CHARS) return text;
  const head = text.slice(0, MAX_CHARS * HEAD).toWellFormed();
  const tail = text.slice(-MAX_CHARS * TAIL).toWellFormed();
  const left = text.length - head.length - tail.length;
  return `${head}\n\n[… ${left} of ${text.length} characters left out; read ${path} for all of it …]\n\n${tail}`;
}
