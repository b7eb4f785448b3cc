/** Cuts the part of a message around the first match of a search. */
import { foldForSearch, hasUnspacedScript, prefixQuery, SHORTEST_PREFIX } from "../sessions/index/search-text.ts";

/** Text before the first match. Characters. */
const BEFORE_CHARS = 40;
const SNIPPET_CHARS = 160;
/** Splits words as full-text search does: a_b are two words. */
const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
const TERMS = /([\p{L}\p{N}\p{M}]+)(\*?)/gu;

export type Snippet = {
  readonly snippet: string;
  /** Ranges of the snippet that match a word of the query, in order. */
  readonly marks: readonly (readonly [start: number, end: number])[];
};

/** One line. Without a match it is the start of the text. */
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

/** A normalised word of the query. `isBegun`: it also matches longer words. */
type Term = { readonly word: string; readonly isBegun: boolean };

/** Matches in order. A word of a script without blanks also matches inside a longer run. */
function placesIn(line: string, query: string): readonly RegExpExecArray[] {
  const terms = [...prefixQuery(query).matchAll(TERMS)].map(([, word = "", star]): Term => {
    return { word: foldForSearch(word), isBegun: star === "*" && word.length >= SHORTEST_PREFIX };
  });
  const found = [...line.matchAll(WORDS)].filter(
    ([word]) => !hasUnspacedScript(word) && matches(foldForSearch(word), terms),
  );
  const unspaced = terms.map(({ word }) => word).filter(hasUnspacedScript); // they hold no special characters of patterns
  if (unspaced.length === 0) return found;
  return [...found, ...line.matchAll(new RegExp(unspaced.join("|"), "giu"))].sort(
    (one, other) => one.index - other.index,
  );
}

function matches(word: string, terms: readonly Term[]): boolean {
  return terms.some((term) => (term.isBegun ? word.startsWith(term.word) : word === term.word));
}
