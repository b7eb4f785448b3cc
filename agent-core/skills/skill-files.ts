/** The files of one skill: list and text, never from outside its folder. */
import { lstat, readdir } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import * as z from "zod";
import { readByItself } from "../approval/workspace-file.ts";
import { readJsonFile } from "../config/home-file.ts";
import { lostCitation } from "../memory/cited-file.ts";
import { MAX_FILE_BYTES, MAX_SKILL_CHARS, SKILL_FILE, textProblem } from "./skill.ts";
import { type Skill, skillLimits } from "./skill-places.ts";

/** Folders of a skill that may hold files. */
const FOLDERS = ["references", "templates", "scripts", "assets", "examples"];
/** Maximum number of files in the list of one skill. */
const MAX_FILES = 200;
const MAX_DEPTH = 4;

export type SkillText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

/** Reason why `path` is not a valid path of a file that may be written; undefined for a valid one. */
export function filePathProblem(path: string): string | undefined {
  const parts = path.split(/[/\\]/);
  const [folder = ""] = parts;
  const outside = outsideProblem(path);
  if (outside !== undefined) return outside;
  if (parts.length < 2 || parts.some((part) => part === "" || part.startsWith(".")) || !FOLDERS.includes(folder)) {
    return `the path ${JSON.stringify(path)} is not in ${FOLDERS.join("/, ")}/`;
  }
  return undefined;
}

function outsideProblem(path: string): string | undefined {
  const isOutside = isAbsolute(path) || /^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)|\0/.test(path);
  return isOutside ? `the path ${JSON.stringify(path)} is outside the skill's folder` : undefined;
}

/** File beside a learnt SKILL.md: its reasons for a doubt are no text for the model. */
export const STANDING_FILE = ".standing.json";

const standingSchema = z.object({ cites: z.array(z.string()).default([]), doubt: z.string().optional() });

/** Reason why a learnt skill is not offered, as a part of a sentence; undefined for one that holds as far as is known. */
export async function doubtAbout({ folder, project }: Pick<Skill, "folder" | "project">): Promise<string | undefined> {
  if (project === undefined) return undefined;
  const { cites = [], doubt } = standingSchema.safeParse(await readJsonFile(join(folder, STANDING_FILE))).data ?? {};
  return doubt ?? lostCitation(cites, project);
}

type SkillFolder = Pick<Skill, "folder" | "source">;

export function readSkillFile(skill: SkillFolder, path: string, { scan } = { scan: true }): SkillText {
  const isHidden = /(?:^|[/\\])\./.test(path);
  const problem = outsideProblem(path) ?? (isHidden ? `the skill has no file ${path}` : undefined);
  return problem === undefined ? readText(skill, path, scan) : { ok: false, reason: problem };
}

export function readProcedure(skill: SkillFolder & Pick<Skill, "commandFile">): SkillText {
  return readText(skill, skill.commandFile ?? SKILL_FILE, true);
}

function readText({ folder, source }: SkillFolder, path: string, scan: boolean): SkillText {
  const limits = { ...skillLimits(source, folder), maxBytes: MAX_FILE_BYTES };
  const read = readByItself(join(folder, path), limits);
  if (!read.ok) {
    const { reason } = read;
    return {
      ok: false,
      reason: reason === undefined ? `the skill has no file ${path}` : `${path} is not read: ${reason}`,
    };
  }
  const { text } = read;
  const threat = scan ? textProblem(text, path.includes("/") ? MAX_FILE_BYTES : MAX_SKILL_CHARS) : undefined;
  return threat === undefined ? { ok: true, text } : { ok: false, reason: `${path} is not read: ${threat}` };
}

/** Paths of all files of a skill but SKILL.md, relative to its folder, with `/`, by name. */
export async function listSkillFiles(folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  const visit = async (inner: string, depth: number): Promise<void> => {
    const entries = await readdir(inner, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.toSorted((first, second) => (first.name < second.name ? -1 : 1))) {
      const path = join(inner, entry.name);
      if (entry.name.startsWith(".") || files.length >= MAX_FILES) continue;
      if (entry.isDirectory() && depth < MAX_DEPTH) await visit(path, depth + 1);
      else if (entry.isFile()) files.push(relative(folder, path).split(sep).join("/"));
    }
  };
  await visit(folder, 0);
  return files.filter((path) => path !== SKILL_FILE);
}

/** True for a path at which a write would follow a symbolic link. `folder` is absolute. */
export async function hasLink(folder: string, path: string): Promise<boolean> {
  let current = folder;
  for (const part of ["", ...path.split("/")]) {
    current = join(current, part);
    const found = await lstat(current).catch(() => undefined);
    if (found === undefined) return false;
    if (found.isSymbolicLink()) return true;
  }
  return false;
}
