/** Search for skills in the sources of the hub. Nothing that it finds is installed. */
import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { messageOf } from "../platform/errors.ts";
import { visibleText } from "../platform/visible-text.ts";
import { type QuarantinedSkill, quarantine } from "./quarantine.ts";

/** Sources without `skills.hub_sources` in config.yaml: the public skills of the format's authors. */
export const DEFAULT_SOURCES: readonly string[] = ["anthropics/skills/skills"];
/** Listed skills; more are a reason for another word. */
const MAX_FOUND = 20;

const FOLDER = join(".hub", "search");

export type SkillSearch = {
  /** All of them must be in the name or the description. None: every skill. */
  readonly words: readonly string[];
  readonly sources: readonly string[];
  /** Folder of the home's skills, absolute. Relative sources start at `cwd`. */
  readonly homeSkills: string;
  readonly cwd: string;
  readonly signal: AbortSignal;
};

/** One line for each skill, with its install command, and one for each source that failed. `ok`: a source answered. */
export async function searchSkills(
  search: SkillSearch,
): Promise<{ readonly ok: boolean; readonly lines: readonly string[] }> {
  const { sources, signal } = search;
  const found = await Promise.allSettled(sources.map((source) => searchSource(source, search)));
  signal.throwIfAborted();
  const failures = found.flatMap((each) => (each.status === "rejected" ? [messageOf(each.reason)] : []));
  const skills = found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  const shown = skills.slice(0, MAX_FOUND);
  const more = skills.length > shown.length ? [`${skills.length - shown.length} more: add a word to the search.`] : [];
  const none =
    skills.length === 0 && failures.length < sources.length ? [`No skill in ${sources.join(", ")} matches.`] : [];
  return { ok: failures.length < sources.length, lines: [...shown, ...more, ...none, ...failures] };
}

async function searchSource(
  source: string,
  { words, homeSkills, cwd, signal }: SkillSearch,
): Promise<readonly string[]> {
  const folder = join(homeSkills, FOLDER, createHash("sha256").update(source).digest("hex").slice(0, 16));
  try {
    const { skills, address } = await quarantine(source, { folder, cwd, signal });
    return skills
      .filter((skill) => matches(skill, words))
      .map(({ name, description, folder: inner }) => {
        const place = relative(folder, inner).split(sep).join("/");
        return `${name}: ${visibleText(description)} Install it with: skills install ${address(place)}`;
      });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function matches({ name, description }: QuarantinedSkill, words: readonly string[]): boolean {
  const text = `${name} ${description}`.toLowerCase();
  return words.every((word) => text.includes(word.toLowerCase()));
}
