/**
 * Words and values of short statements, for the search and for the checks of what is learnt. They never decide that one
 * statement replaces another. Pure.
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

/** Values that a text marks: in backticks or quotation marks. */
const MARKED = /`([^`\n]+)`|"([^"\n]+)"|“([^”\n]+)”|„([^“”\n]+)[“”]/g;
/** Values by their form: with a digit, an option, a path, a name with underscores or inner capitals. */
const FORMED =
  /(?<![\p{L}\p{N}])(?:--?\w[\w-]*|[\w.@~-]*\/[\w./@~-]+|\w*_\w+|[\p{L}\p{N}._@:-]*\d[\p{L}\p{N}._@:%-]*|\p{Ll}+\p{Lu}\w*|\w+\.\w{1,5})(?![\p{L}\p{N}])/gu;
const WORD = /[\p{L}\p{N}]+(?:'\p{L}+)?/gu;

/** Scripts without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
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

/** Equal for two texts that differ only in spaces, backticks, the case of the first letter and the sentence's end. */
export function textKey(text: string): string {
  const line = text
    .replaceAll("`", "")
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(/[.!。！]+$/, "");
  return line.charAt(0).toLowerCase() + line.slice(1);
}

/** Words with a meaning, in a base form. */
export function contentWords(text: string): readonly string[] {
  return wordRow(text)
    .filter((word) => !SMALL_WORDS.has(word))
    .map(baseForm);
}

/** All words in order, in lower case. */
export function wordRow(text: string): readonly string[] {
  return (text.toLowerCase().match(WORD) ?? []).flatMap((word) => (UNSPACED.test(word) ? segments(word) : [word]));
}

function segments(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}

/** Without the usual endings of English words. */
export function baseForm(word: string): string {
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
