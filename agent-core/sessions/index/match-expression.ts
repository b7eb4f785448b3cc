/** From what a model types into a search to what FTS4 takes: nothing it types is a syntax error. */
import { hasUnspaced, spaced } from "./unspaced-words.ts";

/** A shorter prefix stands for too many words to be looked up in time. Characters. */
export const SHORTEST_PREFIX = 3;

/** What is looked at of a query: more than anybody means, and no more than SQLite takes. Characters. */
const LONGEST_QUERY = 1_000;

/** Quoted phrases, else words with an optional `*` at their end. */
const TERM = /"([^"]+)"|([\p{L}\p{N}\p{M}_]+)(\*?)/gu;

/** Undefined when there is nothing to look for. Terms are all needed unless OR stands between them. */
export function matchExpression(query: string): string | undefined {
  const terms = [...cutQuery(query).matchAll(TERM)].map(([, phrase, word = "", star = ""]) => {
    if (phrase !== undefined) return wordsOf(phrase).length === 0 ? undefined : `"${wordsOf(phrase).join(" ")}"`;
    if (word === "OR") return word;
    if (word === "AND") return undefined;
    if (hasUnspaced(word)) return `"${wordsOf(word).join(" ")}"`;
    return `"${word}${star === "*" && word.length >= SHORTEST_PREFIX ? "*" : ""}"`;
  });
  const kept = terms.filter((term) => term !== undefined);
  const joined = kept.filter((term, at) => term !== "OR" || isBetweenTerms(kept, at));
  return joined.length === 0 ? undefined : joined.join(" ");
}

export function cutQuery(query: string): string {
  return query.slice(0, LONGEST_QUERY);
}

/** The same with what may become a longer word: the one at its end, behind which nothing stands yet. */
export function whileTyped(query: string): string {
  return /[\p{L}\p{N}\p{M}_]$/u.test(query) ? `${query}*` : query;
}

/** The same terms, of which any will do. */
export function anyOf(expression: string): string {
  return expression.replaceAll('" "', '" OR "');
}

function isBetweenTerms(terms: readonly string[], at: number): boolean {
  const [before, after] = [terms[at - 1], terms[at + 1]];
  return before !== undefined && before !== "OR" && after !== undefined;
}

function wordsOf(text: string): readonly string[] {
  return spaced(text).match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
}
