/** The part of a message where what was searched for stands. */
import { foldForSearch, hasUnspacedScript, prefixQuery, SHORTEST_PREFIX } from "../sessions/index/search-text.ts";

/** Around the first place. Characters. */
const BEFORE_CHARS = 40;
const SNIPPET_CHARS = 160;
/** As full-text search splits a text: a_b are two words. */
const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
const TERMS = /([\p{L}\p{N}\p{M}]+)(\*?)/gu;

export type Snippet = {
  readonly snippet: string;
  /** Ranges of the snippet with a word of the query, in order. */
  readonly marks: readonly (readonly [start: number, end: number])[];
};

/** One line; without a place that has a word, the text's beginning. */
export function snippetOf(text: string, query: string): Snippet {
  const line = text.replaceAll(/\s+/g, " ");
  const places = placesIn(line, query);
  const start = Math.max(0, (places[0]?.index ?? 0) - BEFORE_CHARS);
  const head = start > 0 ? "…" : "";
  const cut = line.slice(start, start + SNIPPET_CHARS).toWellFormed();
  const marks = places.flatMap(({ 0: word, index }): [number, number][] => {
    const from = index - start;
    return from < 0 || from + word.length > cut.length ? [] : [[from + head.length, from + word.length + head.length]];
  });
  return { snippet: `${head}${cut}${start + SNIPPET_CHARS < line.length ? "…" : ""}`, marks };
}

/** A word of a query, as it is compared; `isBegun`: longer words that begin with it are meant too. */
type Term = { readonly word: string; readonly isBegun: boolean };

/** Where a word of the query stands, in order; one that is written without blanks also within a longer run. */
function placesIn(line: string, query: string): readonly RegExpExecArray[] {
  const terms = [...prefixQuery(query).matchAll(TERMS)].map(([, word = "", star]): Term => {
    return { word: foldForSearch(word), isBegun: star === "*" && word.length >= SHORTEST_PREFIX };
  });
  const found = [...line.matchAll(WORDS)].filter(
    ([word]) => !hasUnspacedScript(word) && isMeant(foldForSearch(word), terms),
  );
  const unspaced = terms.map(({ word }) => word).filter(hasUnspacedScript); // no sign that a pattern would take for its own
  if (unspaced.length === 0) return found;
  return [...found, ...line.matchAll(new RegExp(unspaced.join("|"), "giu"))].sort(
    (one, other) => one.index - other.index,
  );
}

function isMeant(word: string, terms: readonly Term[]): boolean {
  return terms.some((term) => (term.isBegun ? word.startsWith(term.word) : word === term.word));
}
