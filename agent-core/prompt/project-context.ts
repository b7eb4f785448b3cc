/** Instructions of a project for agents, in the files of all agents that people use. */
import { dirname, join, posix, relative, resolve } from "node:path";
import { globMatcher } from "../host/search-rules.ts";
import { isRecord } from "../platform/json.ts";
import { oneLine } from "../platform/one-line.ts";
import { pathBelow } from "../platform/paths.ts";
import { findThreat, wrapData } from "./injection-scan.ts";
import { INSTRUCTIONS_HEAD } from "./system-prompt.ts";

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

/** Endings of rules. */
const ENDING = /\.(?:md|mdc|txt)$/;

/** Instructions in a folder, by the agents that read them. */
const OWNERS = {
  /** Files, in any case. Of each row the first that exists counts. */
  files: [
    [".hermes.md", "HERMES.md"],
    ["AGENTS.override.md", "AGENTS.md", "AGENT.md"],
    ["CLAUDE.md", ".claude/CLAUDE.md"],
    ["CLAUDE.local.md"],
    ["GEMINI.md", ".gemini/GEMINI.md"],
    ...["QWEN.md", "WARP.md", "CRUSH.md", "CODEBUDDY.md", "IFLOW.md", "replit.md"].map((name) => [name]),
    ...[".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".kilocoderules"].map((name) => [name]),
    ...[".continuerules", ".rules", ".goosehints", ".augment-guidelines"].map((name) => [name]),
    ...[".github/copilot-instructions.md", ".agents/AGENTS.md", ".idx/airules.md"].map((name) => [name]),
    [".junie/AGENTS.md", ".junie/guidelines.md"],
    [".openhands/microagents/repo.md", ".openhands/skills/repo.md"],
  ],
  /** Folders of rules beside `.NAME/rules`, which most have: Cursor, Windsurf, Roo, Kilo, Claude Code, Amazon Q, Augment. */
  folders: [
    ...[".clinerules", ".kiro/steering", ".tabnine/guidelines"].map((name) => [name, ENDING] as const),
    [".github/instructions", /\.instructions\.md$/],
    [".sourcegraph", /\.rule\.md$/],
    [".continue/rules", /\.ya?ml$/],
  ],
  /** Settings that name files, globs or folders, or have the text itself: of aider, opencode, Gemini CLI and Copilot. */
  settings: [
    [".aider.conf.yml", ["read"]],
    ["opencode.json", ["instructions"]],
    ["opencode.jsonc", ["instructions"]],
    [".gemini/settings.json", ["context", "fileName"]],
    [".gemini/settings.json", ["contextFileName"]],
    [".vscode/settings.json", ["github.copilot.chat.codeGeneration.instructions"]],
    [".vscode/settings.json", ["chat.instructionsFilesLocations"]],
  ],
  /** Keys of front matter with globs: Copilot, Cursor, Claude Code and Cline, Kiro. */
  globs: ["applyTo", "globs", "paths", "fileMatchPattern"],
  /** Keys that say when rules hold: Cursor, Windsurf, Kiro, Augment. */
  switches: ["alwaysApply", "trigger", "inclusion", "type"],
} as const;
/** Values of the switches. */
const ALWAYS = /^(?:true|always|always_on|always_apply)$/;
const ON_DEMAND = /^(?:false|manual|auto|model_decision|agent_requested)$/;
/** In the folder of an agent. Other endings than that of the mode for code are for modes that do not exist here. */
const RULES = /^rules(?:-code)?$/;
/** Folders of packages and of git, which hold nobody's rules. */
const UNREAD = /(?:^|\/)(?:node_modules|\.git)(?:\/|$)/;
/** Levels of folders below a folder of rules. */
const MAX_LEVELS = 3;
/** Folders that are checked above a path. */
const MAX_FOLDERS = 8;

/** Files that the settings of an agent, or lines about files, name at most. */
const MAX_NAMED = 50;

/** Limit of all files in a prompt or beside a tool's result; further ones are named. Characters. */
const MAX_ALL_CHARS = 40_000;
/** Limit of one file in a prompt. Characters. */
const MAX_CHARS = 20_000;
/** Parts of the limit for the beginning and the end of a longer file. */
const HEAD = 0.7;
const TAIL = 0.2;
/** Name of the element around the file's text. */
const TAG = "project_instructions";

/** Instructions for a session in the absolute folder `cwd`; undefined for a project without any. */
export async function projectContext(cwd: string, files: ContextFiles): Promise<string | undefined> {
  const texts = await presentAll(await rulesOf(cwd, files), cwd);
  return texts.length === 0 ? undefined : [INSTRUCTIONS_HEAD, ...texts].join("\n\n");
}

/** Rules for some files are left out. */
async function presentAll(rules: readonly Rules[], cwd: string): Promise<readonly string[]> {
  const texts: string[] = [];
  const lines: string[] = [];
  let chars = 0;
  for (const { path, text, scope } of rules) {
    const shown = relative(cwd, path) || path;
    const presented = scope.kind === "always" ? await presentFile(shown, text) : undefined;
    chars += presented?.length ?? 0;
    if (scope.kind === "named") lines.push(`[${shown} has rules${scope.topic}. Read it when they apply.]`);
    else if (chars > MAX_ALL_CHARS) lines.push(`[${shown} was left out, because the instructions are long. Read it.]`);
    else if (presented !== undefined) texts.push(presented);
  }
  const further = lines.splice(MAX_NAMED).length;
  if (further > 0) lines.push(`[${further} more files have instructions. Search for them when you need them.]`);
  return [...texts, ...lines];
}

type Scope =
  | { readonly kind: "always" }
  | { readonly kind: "files"; readonly glob: string; readonly folder: string }
  /** `topic`: clause about their use; may be empty. */
  | { readonly kind: "named"; readonly topic: string };

type Rules = { readonly path: string; readonly text: string; readonly scope: Scope };
/** A file of instructions, or settings with the text of some, or that name more of them than are read. */
type Found = { readonly path: string; readonly text?: string; readonly scope?: Scope };

/** From the root of the repository down: the last file is nearest to the work, and prevails. Equal texts count once. */
async function rulesOf(cwd: string, files: ContextFiles): Promise<readonly Rules[]> {
  const folders = (await foldersUpToRoot(cwd, files)).toReversed();
  const [top = cwd] = folders;
  const paths = folders.map(async (folder) =>
    (await pathsIn(folder, top, files)).map((found) => ({ folder, ...found })),
  );
  const rules: Rules[] = [];
  const seen = new Set<string>();
  for (const { folder, path, text = "", scope } of (await Promise.all(paths)).flat()) {
    if (scope !== undefined) rules.push({ path, text, scope });
    for (const found of scope === undefined ? await withImports(path, top, files, seen) : []) {
      if (seen.has(found.text)) continue;
      seen.add(found.text);
      rules.push({ ...found, scope: found.path === path ? await scopeOf(found, folder) : { kind: "always" } });
    }
  }
  return rules;
}

/** `top`: folder that the settings of agents may name files of. */
async function pathsIn(folder: string, top: string, files: ContextFiles): Promise<readonly Found[]> {
  const { read, list } = files;
  const inside = await list(folder);
  const firsts = OWNERS.files.map(async (names) => {
    for (const name of names) {
      const written = inside.find((each) => each.toLowerCase() === name.toLowerCase()) ?? name;
      if ((await read(join(folder, written))) !== undefined) return [join(folder, written)];
    }
    return [];
  });
  const agents = inside.filter((name) => name.startsWith(".") && name !== ".git");
  const owned = agents.map(async (name) =>
    (await list(join(folder, name)))
      .filter((each) => RULES.test(each))
      .map((each) => [join(name, each), ENDING] as const),
  );
  const places = [...OWNERS.folders, ...(await Promise.all(owned)).flat()];
  const inFolders = places.map(([name, ending]) => rulesBelow(join(folder, name), files, ending));
  const named = OWNERS.settings.map((setting) => namedIn(setting, folder, top, files));
  const own = (await Promise.all([...firsts, ...inFolders])).flat().map((path) => ({ path }));
  return [...own, ...(await Promise.all(named)).flat()];
}

/** Files that the settings of an agent name, inside of `top`. */
async function namedIn(
  [setting, keys]: (typeof OWNERS.settings)[number],
  folder: string,
  top: string,
  files: ContextFiles,
): Promise<readonly Found[]> {
  const path = join(folder, setting);
  const text = await files.read(path);
  if (text === undefined) return [];
  const [{ parseJsonc }, { readFrontMatter }] = await Promise.all([import("../platform/jsonc.ts"), frontMatter()]);
  const settings = path.endsWith(".yml") ? (await readFrontMatter(`---\n${text}\n---\n`)).fields : parseJsonc(text);
  const value = [...keys].reduce<unknown>(
    (at, key) => (at as Readonly<Record<string, unknown>> | null | undefined)?.[key],
    settings,
  );
  const { names, texts } = entriesOf(value);
  const found = names.slice(0, MAX_NAMED).map(async (name) => {
    const [start = ""] = name.split(/[^/]*[*?{]/, 1);
    const isGlob = start !== name;
    if (pathBelow(top, join(folder, start)) === undefined || (isGlob && UNREAD.test(start))) return [];
    const inside = isGlob ? await rulesBelow(join(folder, start), files) : [join(folder, name)];
    return isGlob ? inside.filter(globMatcher(name, folder)) : inside.filter((each) => ENDING.test(each));
  });
  const paths = (await Promise.all(found)).flat();
  const own = texts.length === 0 ? [] : [{ path, text: texts.join("\n\n"), scope: { kind: "always" } } as const];
  const first = [...paths.slice(0, MAX_NAMED).map((each) => ({ path: each })), ...own];
  const isAll = Math.max(names.length, paths.length) <= MAX_NAMED;
  return isAll ? first : [...first, { path, scope: { kind: "named", topic: " in further files that it names" } }];
}

/** Names of files, and texts, in the value of a setting: a name or several, entries of Copilot, or folders that are on. */
function entriesOf(value: unknown): { readonly names: readonly string[]; readonly texts: readonly string[] } {
  const items = [value].flat();
  const fields = (key: string): readonly unknown[] => items.map((item) => (isRecord(item) ? item[key] : undefined));
  const on = items.flatMap((item) => (isRecord(item) ? Object.keys(item).filter((key) => item[key] === true) : []));
  const isText = (each: unknown): each is string => typeof each === "string" && each.trim() !== "";
  const names = [...items, ...fields("file"), ...on.map((folder) => posix.join(folder, "**/*.instructions.md"))];
  return { names: names.filter(isText), texts: fields("text").filter(isText) };
}

async function rulesBelow(
  folder: string,
  files: ContextFiles,
  ending: RegExp = ENDING,
  level = 1,
): Promise<readonly string[]> {
  const names = (await files.list(folder)).toSorted();
  const found = names.map(async (name) => {
    const path = join(folder, name);
    if (ending.test(name)) return [path];
    const isLast = name.includes(".") || UNREAD.test(name) || level === MAX_LEVELS;
    return isLast ? [] : rulesBelow(path, files, ending, level + 1);
  });
  return (await Promise.all(found)).flat();
}

/** `@docs/style.md` as Claude Code and Gemini read it, outside of code. */
const IMPORT = /(?<=^|[\s(])@((?:\\ |[\p{L}\p{M}\p{N}_./-])*[\p{L}\p{M}\p{N}_/-])/gmu;
const CODE = /```[\s\S]*?```|`[^`\n]*`/g;
const MAX_IMPORTS = 20;

/** A file and those that it imports, of the repository in `top` alone. `seen` gets their paths. */
async function withImports(
  path: string,
  top: string,
  files: ContextFiles,
  seen: Set<string>,
): Promise<readonly Pick<Rules, "path" | "text">[]> {
  const found: Pick<Rules, "path" | "text">[] = [];
  const waiting = [path];
  for (let next = waiting.shift(); next !== undefined && found.length <= MAX_IMPORTS; next = waiting.shift()) {
    const isRead = seen.has(next) || pathBelow(top, next) === undefined;
    const text = isRead ? undefined : await files.read(next);
    if (text === undefined) continue;
    seen.add(next);
    found.push({ path: next, text });
    const folder = dirname(next);
    const names = [...text.replaceAll(CODE, "").matchAll(IMPORT)].map(([, name = ""]) => name.replaceAll("\\ ", " "));
    waiting.unshift(...names.map((name) => resolve(folder, name)));
  }
  return found;
}

/** Loaded with the first file of instructions. */
const frontMatter = () => import("../config/front-matter.ts");
const EVERYTHING = /^(?:\*\*|\*|\*\*\/\*)$/;

/** The front matter decides on which files rules hold, by the formats of their owners. */
async function scopeOf({ path, text }: Pick<Rules, "path" | "text">, folder: string): Promise<Scope> {
  const { plainText, readFrontMatter } = await frontMatter();
  const { fields } = await readFrontMatter(text);
  const globs = OWNERS.globs
    .flatMap((key) => [fields[key]].flat())
    .flatMap((written) => plainText(written)?.split(/,(?![^{]*\})/) ?? [])
    .map((glob) => glob.replaceAll(/^[\s["']+|[\s\]"']+$/g, ""))
    .filter((glob) => glob !== "");
  const switches = OWNERS.switches.map((key) => plainText(fields[key])?.toLowerCase() ?? "");
  if (switches.some((each) => ALWAYS.test(each)) || globs.some((glob) => EVERYTHING.test(glob)))
    return { kind: "always" };
  if (globs.length > 0) return { kind: "files", glob: globs.join(","), folder };
  const isOnDemand = switches.some((each) => ON_DEMAND.test(each)) || path.endsWith(".instructions.md");
  const topic = typeof fields["description"] === "string" ? fields["description"].trim() : "";
  if (isOnDemand && findThreat(topic) === undefined)
    return { kind: "named", topic: topic === "" ? "" : ` for: ${oneLine(topic, 200)}` };
  return { kind: "always" };
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

/** Instructions of subfolders, and rules for some files. The model gets each with the first call that touches such a file. */
export class SubfolderContext {
  readonly #cwd: string;
  readonly #files: ContextFiles;
  readonly #known: Set<string>;
  #rules: Promise<readonly Rules[]> | undefined;

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
    const found = await Promise.all([...fresh].map((folder) => this.#instructions(folder)));
    return (await presentAll([...(await this.#rulesFor(paths)), ...found.flat()], this.#cwd)).join("\n\n");
  }

  async #rulesFor(paths: readonly string[]): Promise<readonly Rules[]> {
    this.#rules ??= rulesOf(this.#cwd, this.#files).catch((error: unknown) => {
      this.#rules = undefined; // the next call reads them again
      throw error;
    });
    return (await this.#rules).flatMap(({ path, text, scope }) => {
      if (scope.kind !== "files" || this.#known.has(path)) return [];
      const { glob, folder } = scope;
      const matches = globMatcher(glob, folder);
      if (!paths.some((each) => pathBelow(folder, each) !== undefined && matches(each))) return [];
      this.#known.add(path);
      return { path, text, scope: { kind: "always" } };
    });
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

  async #instructions(folder: string): Promise<readonly Rules[]> {
    const top = (await foldersUpToRoot(this.#cwd, this.#files)).at(-1) ?? this.#cwd;
    const found = await pathsIn(folder, top, this.#files);
    const rules = found.map(async ({ path, scope = { kind: "always" } }): Promise<Rules> => {
      return { path, text: (await this.#files.read(path)) ?? "", scope };
    });
    return [...new Map((await Promise.all(rules)).map((each) => [each.text, each])).values()];
  }
}

/** Text of an instruction file: scanned, cut and marked as data. `shown` is its name. Undefined for an empty file. */
async function presentFile(shown: string, text: string): Promise<string | undefined> {
  const { body } = await (await frontMatter()).readFrontMatter(text);
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
