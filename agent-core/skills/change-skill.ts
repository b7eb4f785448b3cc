/** Plans changes of the home's skills, and checks them before anything is written. */
import { rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AUTHOR, MAX_FILE_BYTES, nameProblem, parseSkill, SKILL_FILE, textProblem, withFrontMatter } from "./skill.ts";
import { filePathProblem, hasLink, listSkillFiles, readSkillFile } from "./skill-files.ts";
import type { SkillLibrary } from "./skill-library.ts";
import { isInside, scanPlace } from "./skill-places.ts";

export type SkillAction = "create" | "edit" | "patch" | "delete" | "write_file" | "remove_file";

export type SkillChange = {
  readonly action: SkillAction;
  readonly name: string;
  /** Whole SKILL.md. */
  readonly content?: string;
  readonly category?: string;
  readonly file_path?: string;
  readonly file_content?: string;
  readonly old_string?: string;
  readonly new_string?: string;
};

/** A file of a change; null: no file. Paths are absolute. */
export type ChangedFile = { readonly path: string; readonly before: string | null; readonly after: string | null };

export type PlannedChange =
  | { readonly ok: true; readonly folder: string; readonly files: readonly ChangedFile[] }
  /** `reason` is a sentence for the model. */
  | { readonly ok: false; readonly reason: string };

const EXAMPLE = "---\nname: NAME\ndescription: Use when … (one sentence)\n---\n\n1. First step …";

/** `day`: today, `2026-11-20`, for the skill's provenance. Changes only skills of the home. Never rejects for bad input. */
export async function planSkillChange(change: SkillChange, library: SkillLibrary, day: string): Promise<PlannedChange> {
  const { action, name, category } = change;
  const problem = nameProblem(name) ?? (category === undefined ? undefined : nameProblem(category));
  if (problem !== undefined) return refused(problem);
  const folder = await homeFolderOf(name, library.homeFolder);
  if (folder === undefined) return action === "create" ? planCreate(change, library, day) : notInHome(name, library);
  switch (action) {
    case "create":
      return refused(`the skill ${JSON.stringify(name)} exists already, in ${folder}. Use edit or patch`);
    case "edit":
      return planText(folder, SKILL_FILE, (before) => withProvenance(change.content ?? "", before));
    case "patch":
      return planText(folder, change.file_path ?? SKILL_FILE, (before) => patched(before, change));
    case "write_file":
      return planFile(folder, change.file_path ?? "", change.file_content ?? "");
    case "remove_file":
      return planRemoval(folder, change.file_path ?? "");
    case "delete":
      return planDelete(folder);
  }
}

/** Folder of the home's skill, also of one that does not load. */
async function homeFolderOf(name: string, homeSkills: string): Promise<string | undefined> {
  const { skills, failures } = await scanPlace({ source: "home", folder: homeSkills, shown: "home" });
  const broken = failures.find(({ path }) => basename(path) === SKILL_FILE && basename(dirname(path)) === name);
  return skills.find((skill) => skill.name === name)?.folder ?? (broken && dirname(broken.path));
}

async function notInHome(name: string, library: SkillLibrary): Promise<PlannedChange> {
  const other = await library.find(name);
  if (other === undefined) return refused(`there is no skill ${JSON.stringify(name)}. skills_list has the names`);
  return refused(
    `the skill ${JSON.stringify(name)} is not in the home (${other.place}), and only the home's skills are changed. Create one there under this name or another`,
  );
}

async function planCreate(
  { name, category, content = "" }: SkillChange,
  { homeFolder }: SkillLibrary,
  day: string,
): Promise<PlannedChange> {
  const parsed = await parseSkill(content, name);
  const problem = parsed.ok ? parsed.deviation : parsed.reason;
  if (problem !== undefined)
    return refused(`content is not a valid skill: ${problem}. A SKILL.md looks like this:\n${EXAMPLE}`);
  const after = await withFrontMatter(content, { author: AUTHOR, created_at: day });
  const folder = category === undefined ? join(homeFolder, name) : join(homeFolder, category, name);
  return { ok: true, folder, files: [{ path: join(folder, SKILL_FILE), before: null, after }] };
}

/** Restores the author and the date of a skill of the agent when its new text omits them. */
async function withProvenance(content: string, before: string): Promise<string> {
  const kept = /^ {4}(author|created_at): *(.+)$/gm;
  const values = [...before.matchAll(kept)].map(([, key = "", value = ""]) => [
    key,
    value.replaceAll(/^["']|["']$/g, ""),
  ]);
  return values.length === 0 ? content : withFrontMatter(content, Object.fromEntries(values)).catch(() => content);
}

function patched(before: string, { old_string: old = "", new_string: next = "" }: SkillChange): string | PlannedChange {
  const count = old === "" ? 0 : before.split(old).length - 1;
  if (count === 1) return before.replace(old, () => next);
  return refused(
    count === 0 ? "old_string is not in the file" : `old_string is in the file ${count} times; give more of its text`,
  );
}

/** Change of a text file that exists. */
async function planText(
  folder: string,
  path: string,
  change: (before: string) => Promise<string> | string | PlannedChange,
): Promise<PlannedChange> {
  const before = await readRaw(folder, path);
  if (typeof before !== "string") return before;
  const after = await change(before);
  return typeof after === "string" ? checked(folder, path, before, after) : after;
}

async function planFile(folder: string, path: string, content: string): Promise<PlannedChange> {
  const problem = filePathProblem(path);
  if (problem !== undefined) return refused(problem);
  const before = (await listSkillFiles(folder)).includes(path) ? await readRaw(folder, path) : null;
  return typeof before === "object" && before !== null ? before : checked(folder, path, before, content);
}

async function planRemoval(folder: string, path: string): Promise<PlannedChange> {
  const problem = filePathProblem(path);
  if (problem !== undefined) return refused(problem);
  const before = await readRaw(folder, path);
  return typeof before === "string"
    ? { ok: true, folder, files: [{ path: join(folder, path), before, after: null }] }
    : before;
}

/** Lists each file separately, so that a restore covers all of them. */
async function planDelete(folder: string): Promise<PlannedChange> {
  const files: ChangedFile[] = [];
  for (const path of [...(await listSkillFiles(folder)), SKILL_FILE]) {
    const before = await readRaw(folder, path);
    if (typeof before !== "string") return before;
    files.push({ path: join(folder, path), before, after: null });
  }
  return { ok: true, folder, files };
}

/** Text of a file, even an invalid one, which may be replaced or removed. */
async function readRaw(folder: string, path: string): Promise<string | PlannedChange> {
  if (await hasLink(folder, path)) return refused(`${path} is a symbolic link; change its target yourself`);
  const read = readSkillFile({ folder, source: "home" }, path, { scan: false });
  return read.ok ? read.text : refused(read.reason);
}

async function checked(folder: string, path: string, before: string | null, after: string): Promise<PlannedChange> {
  if (await hasLink(folder, path)) return refused(`${path} leads through a symbolic link`);
  if (before === after) return refused("the text is the same as before");
  if (path === SKILL_FILE) {
    const parsed = await parseSkill(after, basename(folder));
    const problem = parsed.ok ? parsed.deviation : parsed.reason;
    if (problem !== undefined) return refused(`the new text is not a valid skill: ${problem}`);
  } else {
    const problem =
      Buffer.byteLength(after) > MAX_FILE_BYTES ? "it is larger than 1 MiB" : textProblem(after, MAX_FILE_BYTES);
    if (problem !== undefined) return refused(`the new text of ${path} is not saved: ${problem}`);
  }
  return { ok: true, folder, files: [{ path: join(folder, path), before, after }] };
}

/** Removes the folders of a skill that the removed file `path` left empty. */
export async function removeEmptyFolders(path: string, folder: string): Promise<void> {
  for (let current = dirname(path); isInside(current, folder); current = dirname(current)) {
    const isGone = await rmdir(current).then(
      () => true,
      () => false, // it holds other files
    );
    if (!isGone) return;
  }
}

function refused(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
