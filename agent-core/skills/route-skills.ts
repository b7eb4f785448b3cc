/** Chooses the skills that fit a message, by their triggers. Pure. A wrong skill costs more than a missing one. */
import { basename } from "node:path";
import type { SkillTriggers } from "./skill.ts";

/** First part of a message, which names its subject; the rest is often pasted. Characters. */
const READ_CHARS = 4_000;
/** Score of a phrase of two words, or of a word with a matching file. */
const MIN_SCORE = 2;
/** A second skill is added only when it fits nearly as well. */
const SECOND_SHARE = 0.8;
/** Maximum number of other words between two words of a phrase, with small ones such as articles. */
const MAX_GAP = 5;
const FILE_SCORE = 1;

/** Name of a file with an extension, with its folders. A version such as 1.x is not a file name. */
const FILE_NAME = /(?:[\w.@-]+\/)*(?!\d+\.x\b)[\w@-][\w.@-]*\.[A-Za-z]\w{0,9}\b/g;
const SENTENCE_END = /[.;!?\n]+(?=\s|$)/;

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
  readonly sentences: readonly (readonly Word[])[];
  readonly files: readonly string[];
};

function readMessage(message: string): MessageFacts {
  const text = withoutCode(message).slice(0, READ_CHARS).trim();
  const sentences = text.replace(FILE_NAME, " ").split(SENTENCE_END).map(wordsOf);
  return { sentences, files: text.match(FILE_NAME) ?? [] };
}

/** The message without code and quoted output, which do not describe the user's task. */
function withoutCode(message: string): string {
  return message
    .replaceAll("’", "'")
    .replaceAll(/```[\s\S]*?(?:```|$)/g, " ")
    .replaceAll(/^>.*$/gm, " ");
}

/** A word in lower case, and the parts of a name such as `LoginTest`. */
type Word = readonly string[];

function wordsOf(text: string): readonly Word[] {
  return (text.match(/[\p{L}\p{N}]+(?:'\p{L}+)?/gu) ?? []).map((word) => {
    const parts = word.split(/(?<=\p{Ll})(?=\p{Lu})/u).map((part) => part.toLowerCase());
    return parts.length === 1 ? parts : [word.toLowerCase(), ...parts];
  });
}

function scoreOf({ globs, keywords, not = [] }: SkillTriggers, facts: MessageFacts): number {
  const isExcluded = not
    .flatMap(phrasesOf)
    .some((phrase) => facts.sentences.some((words) => hasExactly(words, phrase)));
  if (isExcluded) return 0;
  const phrases = keywords.map((keyword) => phraseScore(keyword, facts.sentences));
  const words = Math.max(0, ...phrases);
  if (words === 0) return 0;
  const more = phrases.filter((score) => score > 0).length > 1 ? 0.5 : 0;
  const file = globs.length > 0 && facts.files.some((path) => matchesAny(path, globs)) ? FILE_SCORE : 0;
  return words + more + file;
}

/** Number of words of the keyword; 0 when no sentence of the message has all of its phrases. */
function phraseScore(keyword: string, sentences: readonly (readonly Word[])[]): number {
  const phrases = phrasesOf(keyword);
  const isFound = sentences.some((words) => phrases.every((phrase) => hasPhrase(words, phrase)));
  return isFound ? phrases.flat().length : 0;
}

/** Words of a phrase, each with its alternatives. */
type Phrase = readonly (readonly string[])[];

/** Phrases of a keyword, which may come in any order: `tests & fail*`. */
function phrasesOf(keyword: string): readonly Phrase[] {
  return keyword
    .toLowerCase()
    .split(" & ")
    .map((phrase) =>
      phrase
        .trim()
        .split(/\s+/)
        .map((word) => word.split("|")),
    );
}

function hasExactly(words: readonly Word[], phrase: Phrase): boolean {
  return words.some((_, start) => phrase.every((wanted, at) => isOneOf(words[start + at] ?? [], wanted)));
}

function hasPhrase(words: readonly Word[], phrase: Phrase): boolean {
  const [head = []] = phrase;
  return words.some((word, start) => isOneOf(word, head) && followsFrom(words, start, phrase));
}

function followsFrom(words: readonly Word[], start: number, wanted: Phrase): boolean {
  let at = start;
  for (const next of wanted.slice(1)) {
    const found = nextOf(words, at + 1, next);
    if (found === undefined) return false;
    at = found;
  }
  return true;
}

/** Place of the next word of a phrase, not too far from `from`. */
function nextOf(words: readonly Word[], from: number, wanted: readonly string[]): number | undefined {
  const at = words.slice(from, from + MAX_GAP + 1).findIndex((word) => isOneOf(word, wanted));
  return at < 0 ? undefined : from + at;
}

/** `#` stands for a number or a version, and a final `*` for any end of a word. */
function isOneOf(word: Word, wanted: readonly string[]): boolean {
  return word.some((form) =>
    wanted.some((each) => {
      if (each === "#") return /^v?\d/.test(form);
      return each.endsWith("*") ? form.startsWith(each.slice(0, -1)) : form === each;
    }),
  );
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
