/** The files of one skill: list and text, never from outside its folder. */
import { lstat, readdir, readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { hasCode, messageOf } from "../platform/errors.ts";
import { MAX_FILE_BYTES, MAX_SKILL_CHARS, SKILL_FILE, textProblem } from "./skill.ts";
import { decodeText, isInside, type Skill } from "./skill-places.ts";

/** Folders of a skill that may hold files. */
const FOLDERS = ["references", "templates", "scripts", "assets", "examples"];
/** Maximum number of files in the list of one skill. */
const MAX_FILES = 200;
const MAX_DEPTH = 4;

export type SkillText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

/** Reason why `path` is not a valid path of a file in a skill; undefined for a valid one. */
export function filePathProblem(path: string): string | undefined {
  const parts = path.split(/[/\\]/);
  const [folder = ""] = parts;
  if (isAbsolute(path) || /^[A-Za-z]:/.test(path) || parts.includes("..") || path.includes("\0")) {
    return `the path ${JSON.stringify(path)} is outside the skill's folder`;
  }
  if (parts.length < 2 || parts.some((part) => part === "" || part.startsWith(".")) || !FOLDERS.includes(folder)) {
    return `the path ${JSON.stringify(path)} is not in ${FOLDERS.join("/, ")}/`;
  }
  return undefined;
}

/** Reads a text file of the skill in `folder` (absolute, without links); `scan` refuses hostile text. Never rejects. */
export async function readSkillFile(folder: string, path: string, { scan } = { scan: true }): Promise<SkillText> {
  const problem = path === SKILL_FILE ? undefined : filePathProblem(path);
  return problem === undefined ? readText(folder, path, scan) : { ok: false, reason: problem };
}

/** Reads the text of a skill or command itself. Never rejects. */
export function readProcedure({
  folder,
  commandFile = SKILL_FILE,
}: Pick<Skill, "folder" | "commandFile">): Promise<SkillText> {
  return readText(folder, commandFile, true);
}

async function readText(folder: string, path: string, scan: boolean): Promise<SkillText> {
  try {
    const real = await realpath(join(folder, path));
    if (!isInside(real, folder))
      return { ok: false, reason: `${path} leaves the skill's folder through a symbolic link` };
    const { size } = await stat(real);
    if (size > MAX_FILE_BYTES) {
      return {
        ok: false,
        reason: `${path} has ${size.toLocaleString("en")} bytes; the limit is ${MAX_FILE_BYTES.toLocaleString("en")}`,
      };
    }
    const text = decodeText(await readFile(real));
    if (text === undefined) return { ok: false, reason: `${path} is not UTF-8 text` };
    const threat = scan ? textProblem(text, path.includes("/") ? MAX_FILE_BYTES : MAX_SKILL_CHARS) : undefined;
    return threat === undefined ? { ok: true, text } : { ok: false, reason: `${path} is not read: ${threat}` };
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return { ok: false, reason: `the skill has no file ${path}` };
    return { ok: false, reason: `${path} cannot be read: ${messageOf(error)}` };
  }
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
