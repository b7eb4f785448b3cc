/**
 * Comparison of short statements, such as entries of the memory: the same one in other words, or one that contradicts
 * another because only its value differs. Pure.
 */

/** Words without a meaning of their own, in English and German. */
const SMALL_WORDS: ReadonlySet<string> = new Set(
  `a an the this that these those is are was were be been being am to of in on at for with and or it its by as from into than
  then so please always should must shall will would can could has have had do does did done need needs you your we our us i my
  me they their there here every each all any now also just only very please when while if user users want wants prefer prefers project projects
  der die das den dem des ein eine einen einem einer und oder ist sind war im in am an auf mit von zu zum zur für bei immer bitte
  soll sollen muss müssen wird werden jede jeder jedes alle ab jetzt auch nur wenn`
    .split(/\s+/)
    .filter((word) => word !== ""),
);

const NEGATION =
  /\b(?:never|not|no longer|don't|do not|doesn't|avoid|stop|without|instead of|rather than|nie|niemals|nicht|kein\w*|statt)\b/i;
const NEGATIONS = new RegExp(NEGATION, "gi");

/** Values that a text marks: in backticks or quotation marks. */
const MARKED = /`([^`\n]+)`|"([^"\n]+)"|“([^”\n]+)”|„([^“”\n]+)[“”]/g;
/** Values by their form: with a digit, an option, a path, a name with underscores or inner capitals. */
const FORMED =
  /(?<![\p{L}\p{N}])(?:--?\w[\w-]*|[\w.@~-]*\/[\w./@~-]+|\w*_\w+|[\p{L}\p{N}._@:-]*\d[\p{L}\p{N}._@:%-]*|\p{Ll}+\p{Lu}\w*|\w+\.\w{1,5})(?![\p{L}\p{N}])/gu;
/** The value of a short sentence without marks: `The default branch is main.` */
const COPULA = /^(.{3,80}?)\s*(?:\bis\b|\bare\b|\bist\b|=|:)\s+(\S+(?:\s\S+)?)\.?$/iu;

/** A choice: `Use pnpm, not npm`, `Always use pnpm`. */
const CHOICE =
  /^(?:(?:always|please|we|immer|bitte|wir)\s+)*(?:use|prefer|verwende|nutze|verwenden|nutzen)\s+(.{1,40}?)(?:(?:,?\s+(?:and\s+)?not|,?\s+instead of|,?\s+rather than|,?\s+nicht|\s+statt)\s+(.{1,40}?))?[.!]?$/i;
/** Language of the answers. */
const ANSWERS_IN =
  /\b(?:answer|reply|respond|speak|talk|antworte|sprich)\b.{0,30}\b(?:in|auf)\s+(english|german|french|spanish|italian|deutsch|englisch|französisch)\b/i;
const LANGUAGES: Readonly<Record<string, string>> = { deutsch: "german", englisch: "english", französisch: "french" };

const WORD = /[\p{L}\p{N}]+(?:'\p{L}+)?/gu;

export type Statement = {
  /** Words with a meaning, without values, in a base form. */
  readonly words: ReadonlySet<string>;
  /** All words without values, in order. */
  readonly form: string;
  readonly values: ReadonlySet<string>;
  readonly isNegated: boolean;
  /** Words with a meaning before a negation. */
  readonly affirmed: ReadonlySet<string>;
  /** Thing that it chooses, and the one that it refuses, in lower case. */
  readonly chosen: string | undefined;
  readonly refused: string | undefined;
  /** Language of the answers that it asks for, in English. */
  readonly language: string | undefined;
};

export function readStatement(text: string): Statement {
  const values = new Set<string>();
  const take = (value: string): string => {
    if (value.trim() !== "") values.add(value.trim().toLowerCase());
    return " ";
  };
  const line = text.replaceAll(/\s+/g, " ").trim();
  let plain = line.replaceAll(MARKED, (_, ...groups: unknown[]) => {
    return take(String(groups.slice(0, 4).find((group) => typeof group === "string") ?? ""));
  });
  plain = plain.replaceAll(FORMED, (value) => take(value.replace(/[.:,]+$/, "")));
  if (values.size === 0) {
    const [, left = plain, value] = COPULA.exec(plain) ?? [];
    if (value !== undefined && meaningful(left).size >= 2) {
      take(value);
      plain = left;
    }
  }
  const [affirmed = ""] = plain.split(NEGATION, 1);
  return {
    words: meaningful(plain),
    form: (plain.toLowerCase().match(WORD) ?? []).join(" "),
    values,
    isNegated: NEGATION.test(plain),
    affirmed: meaningful(affirmed),
    ...choiceIn(line),
  };
}

function choiceIn(line: string): Pick<Statement, "chosen" | "refused" | "language"> {
  const [, chosen, refused] = CHOICE.exec(line.replaceAll(/[`"“”„]/g, "")) ?? [];
  const language = ANSWERS_IN.exec(line)?.[1]?.toLowerCase();
  return {
    chosen: chosen?.toLowerCase(),
    refused: refused?.toLowerCase(),
    language: language && (LANGUAGES[language] ?? language),
  };
}

/** True when one refuses what the other chooses, or both ask for another language. */
function choosesOtherwise(one: Statement, other: Statement): boolean {
  if (one.language !== undefined && other.language !== undefined) return one.language !== other.language;
  const refuses = ({ refused }: Statement, { chosen }: Statement): boolean =>
    refused !== undefined && refused === chosen;
  return refuses(one, other) || refuses(other, one);
}

function meaningful(text: string): ReadonlySet<string> {
  return new Set(contentWords(text.replaceAll(NEGATIONS, " ")));
}

/** Words with a meaning, in a base form. */
export function contentWords(text: string): readonly string[] {
  const words = text.toLowerCase().match(WORD) ?? [];
  return words.filter((word) => !SMALL_WORDS.has(word)).map(baseForm);
}

/** Without the usual endings of English words. */
function baseForm(word: string): string {
  const singular = word.length > 3 && /[^s]s$/.test(word) ? word.slice(0, -1).replace(/ie$/, "y") : word;
  return singular.length > 5 ? singular.replace(/(?:ing|ed|e)$/, "") : singular.replace(/^(\w{3,})ed$/, "$1");
}

/** Share of the words of both that they have in common, from 0 to 1. */
export function similarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size === 0 && other.size === 0) return 1;
  let common = 0;
  for (const word of one) if (other.has(word)) common += 1;
  return common / (one.size + other.size - common);
}

/** Share of the words of the shorter one that the other has, from 0 to 1. */
export function overlap(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const shared = [...one].filter((word) => other.has(word)).length;
  return shared / Math.max(1, Math.min(one.size, other.size));
}

/** Similarity from which two statements say the same. */
const SAME = 0.8;
/** Similarity from which two statements with different values are about the same thing. */
const SAME_SUBJECT = 0.75;
/** Fewer words say too little about the subject: `use` before a value. */
const MIN_WORDS = 2;
const MIN_FORM_WORDS = 3;

/** True when both say the same in nearly the same words. */
export function isSameStatement(one: Statement, other: Statement): boolean {
  return (
    !contradicts(one, other) &&
    similarity(one.values, other.values) === 1 &&
    (one.form === other.form || (one.words.size > 0 && similarity(one.words, other.words) >= SAME))
  );
}

/** True when both are about the same thing and only one of them can hold: another value, or the opposite. */
export function contradicts(one: Statement, other: Statement): boolean {
  if (choosesOtherwise(one, other)) return true;
  const alike = similarity(one.words, other.words);
  const hasSubject = Math.min(one.words.size, other.words.size) >= MIN_WORDS;
  const isSameForm = one.form === other.form && one.form.split(" ").length >= MIN_FORM_WORDS;
  if (!isSameForm && (!hasSubject || alike < SAME_SUBJECT)) return false;
  if (one.isNegated !== other.isNegated) return similarity(one.values, other.values) === 1 && alike === 1;
  if (one.isNegated && alike === 1 && similarity(one.affirmed, other.affirmed) < 1) return true;
  return one.values.size > 0 && other.values.size > 0 && similarity(one.values, other.values) < 1;
}
