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

/** Letters in a row that are compared where whole words differ: in other forms, and in scripts without spaces. */
const GRAM = 3;
/** Share of a word's letter groups from which a text has the word in another form. */
const NEAR = 0.6;
/** Weight of a word in the name of an item; one in its text counts 1. */
const NAME_WEIGHT = 4;

/** `name`: a part of the text in which a word counts more. */
type Ranked = { readonly text: string; readonly name?: string };

/** The items that have words of the query, the best first. A word of few items counts more. */
export function ranked<Item extends Ranked>(query: string, items: readonly Item[]): readonly Item[] {
  const words = [...new Set(contentWords(query))];
  const texts = items.map(({ text, name = "" }) => {
    return { name: new Set(contentWords(name)), words: new Set(contentWords(text)), grams: gramsOf(text) };
  });
  const scores = items.map(() => 0);
  for (const word of words) {
    const fits = texts.map((text) => {
      if (text.name.has(word)) return NAME_WEIGHT;
      return text.words.has(word) ? 1 : nearness(word, text.grams);
    });
    const holding = fits.filter((fit) => fit > 0).length;
    const weight = Math.log(1 + items.length / Math.max(1, holding));
    fits.forEach((fit, at) => {
      scores[at] = (scores[at] ?? 0) + fit * weight;
    });
  }
  return items
    .map((item, at) => ({ item, score: scores[at] ?? 0 }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .map(({ item }) => item);
}

function nearness(word: string, grams: ReadonlySet<string>): number {
  const own = [...gramsOf(word)];
  const share = own.filter((gram) => grams.has(gram)).length / Math.max(1, own.length);
  return share >= NEAR ? share / 2 : 0;
}

function gramsOf(text: string): ReadonlySet<string> {
  const letters = text.toLowerCase().normalize("NFKC");
  const count = Math.max(1, letters.length - GRAM + 1);
  return new Set(Array.from({ length: count }, (_, at) => letters.slice(at, at + GRAM)));
}
