/** Folders with skills, and the scan of one: every skill that loads, and the reason for each one that does not. */
import { type Dirent, statSync } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { type FileLimits, type FoundFile, findByItself, readByItself } from "../approval/workspace-file.ts";
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

/** True for a skill that only the user calls: the model's lists leave it out. */
export function isForUser(skill: Skill): boolean {
  return skill.commandFile !== undefined || skill.isForUser === true;
}

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

/** A skill that does not load, as the result of a search. */
export function failedSkill(failure: Omit<SkillFailure, "name" | "line"> & Partial<SkillFailure>): FoundSkills {
  return { skills: [], failures: [{ name: basename(failure.path), line: 1, ...failure }] };
}

export function joinedSkills(found: readonly FoundSkills[]): FoundSkills {
  return { skills: found.flatMap(({ skills }) => skills), failures: found.flatMap(({ failures }) => failures) };
}

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
  const failed = (reason: string): FoundSkills => failedSkill({ path: place.folder, reason, source: place.source });
  const absent = (): FoundSkills => (place.isNamed ? failed("it does not exist") : { skills: [], failures: [] });
  try {
    // Most places do not exist, and each turn scans them: the rejection of `realpath` takes far longer than this test.
    if (statSync(place.folder, { throwIfNoEntry: false }) === undefined) return absent();
    const root = await realpath(place.folder);
    if (place.within !== undefined && !isInside(root, await realpath(place.within))) {
      return failed("the folder leads out of the workspace by a symbolic link");
    }
    const folders = await subfolders(root);
    const found = await Promise.all(folders.slice(0, MAX_FOLDERS).map((folder) => scanFolder(folder, place)));
    const rest = failed(`it has ${folders.length} folders; only the first ${MAX_FOLDERS} are read`);
    return joinedSkills(folders.length <= MAX_FOLDERS ? found : [...found, rest]);
  } catch (error) {
    return hasCode(error, "ENOENT") ? absent() : failed(`it cannot be read: ${messageOf(error)}`);
  }
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
async function scanFolder(folder: string, place: SkillPlace): Promise<FoundSkills> {
  const own = await readSkill(folder, undefined, place);
  if (own !== undefined) return own;
  const inner = await subfolders(folder).catch(() => []);
  const category = basename(folder);
  const found = await Promise.all(inner.map((each) => readSkill(each, category, place)));
  const missing = (path: string): FoundSkills =>
    failedSkill({ path, reason: `it has no ${SKILL_FILE}`, source: place.source });
  if (found.every((each) => each === undefined)) return missing(folder);
  return joinedSkills(found.map((each, index) => each ?? missing(inner[index] ?? folder)));
}

/** Undefined where the folder has no SKILL.md. */
async function readSkill(
  folder: string,
  category: string | undefined,
  { source, shown, within }: SkillPlace,
): Promise<FoundSkills | undefined> {
  const path = join(folder, SKILL_FILE);
  const name = basename(folder);
  const failed = (reason: string, line = 1): FoundSkills => failedSkill({ name, path, reason, line, source });
  try {
    const limits = skillLimits(source, within);
    const file = findByItself(path, limits);
    if (!file.ok) return file.reason === undefined ? undefined : failed(file.reason);
    const parsed = await parseFile(file, name, limits);
    if (!parsed.ok) return failed(parsed.reason, parsed.line);
    const { facts } = parsed;
    const place = { folder: dirname(file.path), source, place: shown };
    return { skills: [{ ...facts, category: facts.category ?? categoryName(category), ...place }], failures: [] };
  } catch (error) {
    return failed(`it cannot be read: ${messageOf(error)}`);
  }
}

/** Limits for the file of a skill: those of a workspace stay in `within` (absolute). */
export function skillLimits(source: SkillSource, within: string | undefined): FileLimits {
  return { isOwn: source !== "project", maxBytes: MAX_SKILL_BYTES, ...(within !== undefined && { within: [within] }) };
}

type CachedSkill = { readonly stamp: string; readonly parsed: ParsedSkill };

/** Parsed files of all sessions, by path. */
const cache = new Map<string, CachedSkill>();

/** Reads a file only when it changed. `name` is that of its folder. Rejects when it cannot be parsed. */
export async function parseFile(
  file: FoundFile,
  name: string,
  limits: FileLimits,
  parse = parseSkill,
): Promise<ParsedSkill> {
  const stamp = `${file.stamp} ${name}`;
  const known = cache.get(file.path);
  if (known?.stamp === stamp) return known.parsed;
  const read = readByItself(file.path, limits);
  if (!read.ok) return { ok: false, reason: read.reason ?? "it is gone" };
  const parsed = await parse(read.text, name);
  cache.set(file.path, { stamp, parsed });
  return parsed;
}

/** True for `root` itself and everything below it. */
export function isInside(path: string, root: string): boolean {
  return pathBelow(root, path) !== undefined;
}
