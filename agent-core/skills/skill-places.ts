/** Folders with skills, and the scan of one: every skill that loads, and the reason for each one that does not. */
import { type Dirent, statSync } from "node:fs";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { hasCode, messageOf } from "../platform/errors.ts";
import { pathBelow } from "../platform/paths.ts";
import { categoryName, MAX_SKILL_CHARS, type ParsedSkill, parseSkill, SKILL_FILE, type SkillFacts } from "./skill.ts";

/** In the order of precedence: the first skill with a name wins. */
export type SkillSource = "project" | "home" | "external" | "plugin" | "bundled";

export type SkillPlace = {
  readonly source: SkillSource;
  /** Absolute; may not exist. */
  readonly folder: string;
  /** Name for people. */
  readonly shown: string;
  /** Folder that contains the place, links resolved; a place outside it is not read. Absolute. */
  readonly within?: string;
  /** The user named this place, so its absence is a failure. */
  readonly isNamed?: true;
};

export type Skill = SkillFacts & {
  /** Absolute, without links. */
  readonly folder: string;
  readonly source: SkillSource;
  /** Name of its place, for people. */
  readonly place: string;
  /** File in `folder` of a command that only the user calls (command-files.ts); undefined: SKILL_FILE, with its folder. */
  readonly commandFile?: string;
};

/** The file with a skill's text, absolute. */
export function skillFile({ folder, commandFile = SKILL_FILE }: Pick<Skill, "folder" | "commandFile">): string {
  return join(folder, commandFile);
}

/** A skill that does not load. */
export type SkillFailure = {
  readonly name: string;
  /** Its SKILL.md, or its folder; absolute. */
  readonly path: string;
  readonly reason: string;
  /** 1-based. */
  readonly line: number;
  readonly source: SkillSource;
};

export type FoundSkills = { readonly skills: readonly Skill[]; readonly failures: readonly SkillFailure[] };

/** Maximum number of folders of a place. Reading more would slow each session down. */
const MAX_FOLDERS = 1_000;
/** Bytes of a SKILL.md that may have the allowed number of characters. */
const MAX_SKILL_BYTES = 4 * MAX_SKILL_CHARS;

const PROJECT_FOLDERS = [".hermes/skills", ".agents/skills", ".claude/skills", ".github/skills"];

/** Folders in a project with commands of other agents (command-files.ts), and the ending of their files. */
export const COMMAND_FOLDERS = [
  { folder: ".claude/commands", ending: ".md" },
  { folder: ".cursor/commands", ending: ".md" },
  { folder: ".github/prompts", ending: ".prompt.md" },
];

export function projectPlaces(roots: readonly string[]): readonly SkillPlace[] {
  return roots.flatMap((root) =>
    PROJECT_FOLDERS.map(
      (folder): SkillPlace => ({ source: "project", folder: join(root, folder), shown: folder, within: root }),
    ),
  );
}

/** Places of `skills.external_dirs`; relative ones start at `home`, `~/` at the user's home folder. */
export function externalPlaces(folders: readonly string[], home: string): readonly SkillPlace[] {
  return folders.map((written) => {
    const folder = written.startsWith("~/") ? join(homedir(), written.slice(2)) : resolve(home, written);
    return { source: "external", folder, shown: written, isNamed: true };
  });
}

/** Scans a place. Never rejects: an unreadable folder is a failure. */
export async function scanPlace(place: SkillPlace): Promise<FoundSkills> {
  const failed = (reason: string, path = place.folder): FoundSkills => ({
    skills: [],
    failures: [{ name: basename(path), path, reason, line: 1, source: place.source }],
  });
  const absent = (): FoundSkills => (place.isNamed ? failed("it does not exist") : { skills: [], failures: [] });
  try {
    // Most places do not exist, and each turn scans them: the rejection of `realpath` takes far longer than this test.
    if (statSync(place.folder, { throwIfNoEntry: false }) === undefined) return absent();
    const root = await realpath(place.folder);
    if (place.within !== undefined && !isInside(root, await realpath(place.within))) {
      return failed("the folder leads out of the workspace by a symbolic link");
    }
    const folders = await subfolders(root);
    const found = await Promise.all(folders.slice(0, MAX_FOLDERS).map((folder) => scanFolder(folder, root, place)));
    const all = joined(found);
    if (folders.length <= MAX_FOLDERS) return all;
    const rest = failed(`it has ${folders.length} folders; only the first ${MAX_FOLDERS} are read`);
    return joined([all, rest]);
  } catch (error) {
    return hasCode(error, "ENOENT") ? absent() : failed(`it cannot be read: ${messageOf(error)}`);
  }
}

function joined(found: readonly FoundSkills[]): FoundSkills {
  return { skills: found.flatMap(({ skills }) => skills), failures: found.flatMap(({ failures }) => failures) };
}

/** Folders and links in a folder, by name. */
async function subfolders(folder: string): Promise<readonly string[]> {
  const isFolder = (entry: Dirent): boolean => entry.isDirectory() || entry.isSymbolicLink();
  return (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => isFolder(entry) && !entry.name.startsWith("."))
    .map((entry) => join(folder, entry.name))
    .toSorted();
}

/** A folder below a place: a skill, or a category of skills. */
async function scanFolder(folder: string, root: string, place: SkillPlace): Promise<FoundSkills> {
  const own = await readSkill(folder, undefined, root, place);
  if (own !== undefined) return own;
  const inner = await subfolders(folder).catch(() => []);
  const category = basename(folder);
  const found = await Promise.all(inner.map((each) => readSkill(each, category, root, place)));
  if (found.every((each) => each === undefined)) return missing(folder, place);
  return joined(found.map((each, index) => each ?? missing(inner[index] ?? folder, place)));
}

function missing(path: string, { source }: SkillPlace): FoundSkills {
  return {
    skills: [],
    failures: [{ name: basename(path), path, reason: `it has no ${SKILL_FILE}`, line: 1, source }],
  };
}

/** Undefined where the folder has no SKILL.md. */
async function readSkill(
  folder: string,
  category: string | undefined,
  root: string,
  { source, shown }: SkillPlace,
): Promise<FoundSkills | undefined> {
  const path = join(folder, SKILL_FILE);
  const name = basename(folder);
  const failed = (reason: string, line = 1): FoundSkills => ({
    skills: [],
    failures: [{ name, path, reason, line, source }],
  });
  try {
    const real = await realpath(path);
    if (!isInside(real, root)) return failed("it leads out of its folder of skills by a symbolic link");
    const parsed = await parseFile(real, name);
    if (!parsed.ok) return failed(parsed.reason, parsed.line);
    const { facts } = parsed;
    return {
      skills: [
        {
          ...facts,
          category: facts.category ?? categoryName(category),
          folder: resolve(real, ".."),
          source,
          place: shown,
        },
      ],
      failures: [],
    };
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    return failed(`it cannot be read: ${messageOf(error)}`);
  }
}

type CachedSkill = { readonly stamp: string; readonly parsed: ParsedSkill };

/** Parsed files of all sessions, by path. */
const cache = new Map<string, CachedSkill>();

/** Reads a file only when it changed. `name` is that of its folder. Rejects when it cannot be read. */
export async function parseFile(path: string, name: string, parse = parseSkill): Promise<ParsedSkill> {
  const { mtimeMs, ctimeMs, size } = await stat(path);
  if (size > MAX_SKILL_BYTES) {
    return {
      ok: false,
      reason: `it has ${size.toLocaleString("en")} bytes; the limit is ${MAX_SKILL_CHARS.toLocaleString("en")} characters`,
    };
  }
  const stamp = `${mtimeMs} ${ctimeMs} ${size} ${name}`;
  const known = cache.get(path);
  if (known?.stamp === stamp) return known.parsed;
  const source = decodeText(await readFile(path));
  const parsed = source === undefined ? ({ ok: false, reason: "it is not UTF-8" } as const) : await parse(source, name);
  cache.set(path, { stamp, parsed });
  return parsed;
}

/** Undefined for bytes that are not UTF-8. */
export function decodeText(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** True for `root` itself and everything below it. */
export function isInside(path: string, root: string): boolean {
  return pathBelow(root, path) !== undefined;
}
