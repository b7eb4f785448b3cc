/** Chooses the skills that fit a message, by their triggers. Pure. A wrong skill costs more than a missing one. */
import { basename } from "node:path";
import type { SkillTriggers } from "./skill.ts";

/** First part of a message, which names its subject; the rest is often pasted. Characters. */
const READ_CHARS = 4_000;
/** Score of a phrase of two words, or of a word with a matching file or task. */
const MIN_SCORE = 2;
/** A second skill is added only when it fits nearly as well. */
const SECOND_SHARE = 0.8;
/** Most other words between two words of a phrase. */
const MAX_GAP = 3;

const FILE_SCORE = 1;
const TASK_SCORE = 1;

/** Verbs that begin a task of a kind. */
const TASKS: Readonly<Record<string, readonly string[]>> = {
  debug: ["fix", "debug", "diagnose", "investigate", "solve", "repair", "trace"],
  test: ["test", "cover"],
  write: ["write", "add", "create", "draft", "make", "compose", "generate"],
  review: ["review", "check", "audit", "critique", "inspect"],
  refactor: ["refactor", "extract", "rename", "move", "split", "inline", "simplify", "clean", "restructure"],
  upgrade: ["upgrade", "update", "bump", "migrate"],
  explain: ["explain", "describe", "summarize", "summarise", "understand", "explore", "tour"],
};

/** Beginning of a question that asks for an explanation, not for the work that a skill describes. */
const QUESTION =
  /^(?:what(?:'s| is| are| does| do)|who|when|is|are|does|do|did|should|which|how (?:many|much|long|old))\b/i;
/** Name of a file with an extension, with its folders. */
const FILE_NAME = /(?:[\w.@-]+\/)*[\w@-][\w.@-]*\.[A-Za-z]\w{0,9}\b/g;

type Routable = { readonly triggers: SkillTriggers };

/** At most two of the candidates, the best one first. */
export function routeSkills<Skill extends Routable>(message: string, candidates: readonly Skill[]): readonly Skill[] {
  const facts = readMessage(message);
  const scored = candidates
    .map((skill) => ({ skill, score: scoreOf(skill.triggers, facts) }))
    .filter(({ score }) => score >= MIN_SCORE)
    .toSorted((first, second) => second.score - first.score);
  const [best] = scored;
  if (best === undefined) return [];
  return scored
    .slice(0, 2)
    .filter(({ score }) => score >= best.score * SECOND_SHARE)
    .map(({ skill }) => skill);
}

type MessageFacts = {
  readonly words: readonly string[];
  readonly files: readonly string[];
  readonly tasks: ReadonlySet<string>;
  readonly isQuestion: boolean;
};

function readMessage(message: string): MessageFacts {
  const text = withoutCode(message).slice(0, READ_CHARS).trim();
  const words = wordsOf(text.replace(FILE_NAME, " "));
  return { words, files: text.match(FILE_NAME) ?? [], tasks: tasksOf(words), isQuestion: QUESTION.test(text) };
}

/** The message without code and quoted output, which do not describe the user's task. */
function withoutCode(message: string): string {
  return message.replaceAll(/```[\s\S]*?(?:```|$)/g, " ").replaceAll(/^>.*$/gm, " ");
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+(?:'\p{L}+)?/gu) ?? [];
}

/** Kinds of task that the first word names, after a polite beginning. */
function tasksOf(words: readonly string[]): ReadonlySet<string> {
  const polite = new Set([
    "please",
    "can",
    "could",
    "would",
    "you",
    "now",
    "then",
    "help",
    "me",
    "to",
    "i",
    "want",
    "need",
    "let's",
    "and",
  ]);
  const first = words.find((word) => !polite.has(word)) ?? "";
  const kinds = Object.entries(TASKS).filter(([, verbs]) => verbs.includes(first));
  return new Set(kinds.map(([kind]) => kind));
}

function scoreOf({ globs, keywords, tasks }: SkillTriggers, facts: MessageFacts): number {
  const phrases = keywords.map((keyword) => phraseScore(keyword, facts.words));
  const words = Math.max(0, ...phrases);
  if (words === 0) return 0;
  const more = phrases.filter((score) => score > 0).length > 1 ? 0.5 : 0;
  const file = globs.length > 0 && facts.files.some((path) => matchesAny(path, globs)) ? FILE_SCORE : 0;
  const task = tasks.some((kind) => facts.tasks.has(kind)) ? TASK_SCORE : 0;
  // A question needs more than a phrase that it happens to contain.
  const doubt = facts.isQuestion && task === 0 ? 1 : 0;
  return words + more + file + task - doubt;
}

/** Number of words of the phrase; 0 when the message does not contain it. */
function phraseScore(keyword: string, words: readonly string[]): number {
  const wanted = keyword
    .toLowerCase()
    .split(/\s+/)
    .map((word) => word.split("|"));
  const [head = []] = wanted;
  const isFound = words.some((word, start) => isOneOf(word, head) && followsFrom(words, start, wanted));
  return isFound ? wanted.length : 0;
}

function followsFrom(words: readonly string[], start: number, wanted: readonly (readonly string[])[]): boolean {
  let at = start;
  for (const next of wanted.slice(1)) {
    const reach = words.slice(at + 1, at + 2 + MAX_GAP);
    const found = reach.findIndex((word) => isOneOf(word, next));
    if (found < 0) return false;
    at += 1 + found;
  }
  return true;
}

function isOneOf(word: string, wanted: readonly string[]): boolean {
  return wanted.some((each) => (each.endsWith("*") ? word.startsWith(each.slice(0, -1)) : word === each));
}

/** Globs of the kind `*.test.ts` and `src/**`; one without a slash matches a file's name. */
function matchesAny(path: string, globs: readonly string[]): boolean {
  return globs.some((glob) => patternOf(glob).test(glob.includes("/") ? path : basename(path)));
}

const patterns = new Map<string, RegExp>();

function patternOf(glob: string): RegExp {
  const known = patterns.get(glob);
  if (known !== undefined) return known;
  const source = glob
    .split(/(\*\*\/?|\*|\?)/)
    .map((part) => WILDCARDS[part] ?? part.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&"))
    .join("");
  const pattern = new RegExp(`^${source}$`, "i");
  patterns.set(glob, pattern);
  return pattern;
}

const WILDCARDS: Readonly<Record<string, string>> = { "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]" };
