/** Lists of skills for the model: a short index for the system prompt, and the whole list for a tool. */
import type { KnownSkill } from "./skill-library.ts";

/** Length of the index in a prompt, which every request repeats. Characters. */
const MAX_INDEX_CHARS = 1_500;
/** Length of a description in the index. Characters. */
const SHORT_CHARS = 50;
/** Category of skills without one. */
const NO_CATEGORY = "general";

/** First line of the index. */
export const SKILLS_HEAD =
  "Skills (before work that one describes, read it with skill_view; the user may name one as /name):";

/** Undefined without skills. When not all fit, skills of the project and of the user come first. */
export function skillIndex(skills: readonly KnownSkill[]): string | undefined {
  if (skills.length === 0) return undefined;
  const shown: KnownSkill[] = [];
  for (const skill of skills) {
    if (rendered([...shown, skill], skills.length).length > MAX_INDEX_CHARS) break;
    shown.push(skill);
  }
  return rendered(shown, skills.length);
}

function rendered(shown: readonly KnownSkill[], count: number): string {
  const rest = count - shown.length;
  const lines = linesOf(shown, ({ name, description }) => `- ${name}: ${shortened(description)}`);
  return [SKILLS_HEAD, ...lines, ...(rest === 0 ? [] : [`${rest} more: skills_list.`])].join("\n");
}

/** Names and descriptions by category. */
export function skillList(skills: readonly KnownSkill[]): string {
  return linesOf(skills, ({ name, description, place }) => `- ${name} (${place}): ${description}`).join("\n");
}

function linesOf(skills: readonly KnownSkill[], line: (skill: KnownSkill) => string): readonly string[] {
  const categories = Object.entries(Object.groupBy(skills, categoryOf));
  return categories.flatMap(([category, members = []]) => [`${category}:`, ...members.map(line)]);
}

/** Category of a skill for people and the model. */
export function categoryOf({ category }: Pick<KnownSkill, "category">): string {
  return category ?? NO_CATEGORY;
}

/** Description in an index, cut at a word. */
export function shortened(description: string, chars = SHORT_CHARS): string {
  if (description.length <= chars) return description;
  const cut = description.slice(0, chars);
  const end = cut.lastIndexOf(" ");
  return `${cut
    .slice(0, end > chars / 2 ? end : chars - 1)
    .trimEnd()
    .toWellFormed()}…`;
}
