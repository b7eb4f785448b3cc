/**
 * Words and values of short statements, for the search and for the checks of what is learnt. They never decide that one
 * statement replaces another. Pure.
 */

import { escapePattern } from "../platform/escape-pattern.ts";

/** Values that a text marks: in backticks or quotation marks. */
const MARKED = /`([^`\n]+)`|"([^"\n]+)"|“([^”\n]+)”|„([^“”\n]+)[“”]/g;
/** Values by their form: with a digit, an option, a path, a name with underscores or inner capitals. */
const FORMED =
  /(?<![\p{L}\p{N}])(?:--?\w[\w-]*|[\w.@~-]*\/[\w./@~-]+|\w*_\w+|[\p{L}\p{N}._@:-]*\d[\p{L}\p{N}._@:%-]*|\p{Ll}+\p{Lu}\w*|\w+\.\w{1,5})(?![\p{L}\p{N}])/gu;
/** Longest part of a word that is compared: forms of one word differ at their ends. Characters. */
const STEM_CHARS = 6;
let segmenter: Intl.Segmenter | undefined;

/** Values that the text marks, in lower case. */
export function markedValues(text: string): ReadonlySet<string> {
  return new Set(
    [...text.matchAll(MARKED)].map(([, ...groups]) => plainValue(groups.find(Boolean) ?? "")).filter(Boolean),
  );
}

/** Values that the text marks, and those that have the form of one, in lower case. */
export function valuesIn(text: string): ReadonlySet<string> {
  const formed = [...text.replaceAll(MARKED, " ").matchAll(FORMED)].map(([value]) => plainValue(value));
  return new Set([...markedValues(text), ...formed.filter(Boolean)]);
}

function plainValue(text: string): string {
  return text
    .trim()
    .replace(/[.:,]+$/, "")
    .toLowerCase();
}

/** True for a text with the value as a word of its own. */
export function holdsValue(text: string, value: string): boolean {
  return new RegExp(`(?<![\\w-])${escapePattern(value)}(?![\\w-])`, "i").test(text);
}

/** Equal for two texts that differ only in spaces, backticks, the case of the first letter and the sentence's end. */
export function textKey(text: string): string {
  const line = text
    .replaceAll("`", "")
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(/[.!。！]+$/, "");
  return line.charAt(0).toLowerCase() + line.slice(1);
}

/** Words of any language for comparisons, without single letters of an alphabet and without the ends of long words. */
export function contentWords(text: string): readonly string[] {
  return wordRow(text)
    .filter((word) => word.length > 1 || word > "\u2e7f")
    .map((word) => word.slice(0, STEM_CHARS));
}

/** All words in order, in lower case, as the rules of Unicode divide them: scripts without spaces, too. */
export function wordRow(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  return [...segmenter.segment(text.toLowerCase())].flatMap(({ segment, isWordLike }) => (isWordLike ? [segment] : []));
}

/** Sentences of any language, trimmed. */
export function sentencesOf(text: string): readonly string[] {
  const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text);
  return [...sentences].map(({ segment }) => segment.trim()).filter((sentence) => sentence !== "");
}

/** Share of the words of both that they have in common, from 0 to 1. */
export function similarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size === 0 && other.size === 0) return 1;
  let common = 0;
  for (const word of one) if (other.has(word)) common += 1;
  return common / (one.size + other.size - common);
}

/** Text around a word that is compared with a statement. Characters. */
const AROUND_CHARS = 240;
/** Places of a word in one output that are compared with a statement. */
const MAX_PLACES = 50;

/**
 * Place in the outputs of tools (in lower case) that says more of the text than the user's own words do: the model may have it
 * from there. Undefined: the text is the user's.
 */
export function placeSaying(
  text: string,
  own: string,
  outputs: readonly string[],
): { readonly output: number; readonly at: number } | undefined {
  const words = [...new Set(contentWords(text))];
  const said = new Set(contentWords(own));
  const foreign = words.filter((word) => !said.has(word));
  for (const [output, read] of outputs.entries()) {
    for (const word of foreign) {
      let at = read.indexOf(word);
      for (let tries = 0; at >= 0 && tries < MAX_PLACES; tries += 1) {
        const around = read.slice(Math.max(0, at - AROUND_CHARS), at + word.length + AROUND_CHARS);
        if (words.filter((each) => around.includes(each)).length > words.length - foreign.length) return { output, at };
        at = read.indexOf(word, at + AROUND_CHARS);
      }
    }
  }
  return undefined;
}
