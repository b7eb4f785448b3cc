/** Commands that other agents read from Markdown files of a project: skills that only the user calls, by name. */
import { readdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { findByItself } from "../approval/workspace-file.ts";
import { plainText, readFrontMatter } from "../config/front-matter.ts";
import { hasCode, messageOf } from "../platform/errors.ts";
import { categoryName, MAX_SKILL_CHARS, nameProblem, type ParsedSkill, type SkillFacts, textProblem } from "./skill.ts";
import {
  COMMAND_FOLDERS,
  type FoundSkills,
  failedSkill,
  isInside,
  joinedSkills,
  parseFile,
  type Skill,
  type SkillFailure,
  skillFile,
  skillLimits,
} from "./skill-places.ts";

/** Folders of commands in a folder of commands. */
const MAX_DEPTH = 2;
const MAX_FILES = 200;
/** Length of the description that is taken from a text without one. Characters. */
const FIRST_LINE_CHARS = 200;

/** The commands of workspace folders (absolute). Never rejects: what cannot be read is a failure, and so is a reserved name. */
export async function projectCommands(
  roots: readonly string[],
  reservedNames: readonly string[] = [],
): Promise<readonly FoundSkills[]> {
  const found = await Promise.all(
    roots.flatMap((root) => COMMAND_FOLDERS.map(({ folder, ending }) => scan(root, folder, ending))),
  );
  const isTaken = ({ name }: Skill): boolean => reservedNames.includes(name);
  return found.map(({ skills, failures }) => ({
    skills: skills.filter((skill) => !isTaken(skill)),
    failures: [...failures, ...skills.filter(isTaken).map(takenName)],
  }));
}

function takenName({ name, source, ...file }: Skill): SkillFailure {
  const reason = `Hermes has a command /${name} of its own: rename the file`;
  return { name, path: skillFile(file), reason, line: 1, source };
}

async function scan(root: string, shown: string, ending: string): Promise<FoundSkills> {
  const folder = join(root, shown);
  const failed = (path: string, reason: string): FoundSkills =>
    failedSkill({ name: nameOf(path, ending), path, reason, source: "project" });
  try {
    const [real, whole] = [await realpath(folder), await realpath(root)];
    if (!isInside(real, whole)) return failed(folder, "the folder leads out of the workspace by a symbolic link");
    const paths = await filesIn(real, ending, MAX_DEPTH);
    const found = await Promise.all(
      paths
        .slice(0, MAX_FILES)
        .map((path) =>
          readCommand(path, { root, shown, ending }).catch((error: unknown) =>
            failed(path, `it cannot be read: ${messageOf(error)}`),
          ),
        ),
    );
    const rest = failed(folder, `it has ${paths.length} commands; only the first ${MAX_FILES} are read`);
    return joinedSkills(paths.length > MAX_FILES ? [...found, rest] : found);
  } catch (error) {
    const isMissing = hasCode(error, "ENOENT", "ENOTDIR");
    return isMissing ? joinedSkills([]) : failed(folder, `it cannot be read: ${messageOf(error)}`);
  }
}

async function filesIn(folder: string, ending: string, depth: number): Promise<readonly string[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).filter(({ name }) => !name.startsWith("."));
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return depth > 1 ? filesIn(path, ending, depth - 1) : [];
      return entry.name.endsWith(ending) && entry.name !== "README.md" ? [path] : [];
    }),
  );
  return found.flat().toSorted();
}

type CommandPlace = { readonly root: string; readonly shown: string; readonly ending: string };

async function readCommand(path: string, { root, shown, ending }: CommandPlace): Promise<FoundSkills> {
  const name = nameOf(path, ending);
  const failure = (reason: string): FoundSkills => failedSkill({ name, path, reason, source: "project" });
  const limits = skillLimits("project", root);
  const file = findByItself(path, limits);
  if (!file.ok) return file.reason === undefined ? joinedSkills([]) : failure(file.reason);
  const parsed = await parseFile(file, name, limits, parseCommand);
  if (!parsed.ok) return failure(parsed.reason);
  const place = {
    folder: dirname(file.path),
    commandFile: basename(file.path),
    source: "project",
    place: shown,
  } as const;
  return { skills: [{ ...parsed.facts, ...place }], failures: [] };
}

function nameOf(path: string, ending: string): string {
  const written = basename(path).slice(0, -ending.length);
  return categoryName(written) ?? written;
}

/** Reads the front matter that such commands may have: only their description counts. */
async function parseCommand(source: string, name: string): Promise<ParsedSkill> {
  const problem = textProblem(source, MAX_SKILL_CHARS) ?? nameProblem(name);
  if (problem !== undefined) return { ok: false, reason: problem };
  const { fields, body } = await readFrontMatter(source);
  if (body === "") return { ok: false, reason: "it has no text" };
  const firstLine = body.split(/\r?\n/, 1)[0]?.replace(/^#+\s*/, "") ?? name;
  const description = plainText(fields["description"]) ?? firstLine;
  return {
    ok: true,
    body,
    facts: { ...NO_FACTS, name, description: description.slice(0, FIRST_LINE_CHARS) },
  };
}

const NO_FACTS: Omit<SkillFacts, "name" | "description"> = {
  version: "",
  category: "commands",
  platforms: [],
  variables: [],
  author: undefined,
  requires: { toolsets: [], tools: [] },
  fallbackFor: { toolsets: [], tools: [] },
};

/** The text of a command for a call: `$ARGUMENTS` is the text after its name, `$1` the first word of it. */
export function withArguments(text: string, argument: string): string {
  const words = argument.split(/\s+/);
  return text
    .replaceAll("$ARGUMENTS", () => argument)
    .replaceAll(/\$([1-9])(?!\d)/g, (_, number: string) => words[Number(number) - 1] ?? "");
}
