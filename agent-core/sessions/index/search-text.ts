/** Texts of the full-text search: queries, indexed messages, snippets of hits. No query is a syntax error. */
import { contentText, type Message } from "../../messages/message.ts";
import { withoutMarkup } from "../../messages/without-markup.ts";

/** Shorter prefixes match too many words to be searched in time. Characters. */
export const SHORTEST_PREFIX = 3;

/** Longer queries are cut: SQLite limits the length. Characters. */
const LONGEST_QUERY = 1_000;

/** A quoted phrase, or a word with an optional `*`. */
const TERM = /"([^"]+)"|([\p{L}\p{N}\p{M}_]+)(\*?)/gu;

/** FTS4 expression for `query`; undefined when it has no words. All terms are required, except around OR. */
export function matchExpression(query: string): string | undefined {
  const terms = [...cutQuery(query).matchAll(TERM)].map(([, phrase, word = "", star = ""]) => {
    if (phrase !== undefined) return wordsOf(phrase).length === 0 ? undefined : `"${wordsOf(phrase).join(" ")}"`;
    if (word === "OR") return word;
    if (word === "AND") return undefined;
    if (hasUnspacedScript(word)) return `"${wordsOf(word).join(" ")}"`;
    return `"${word}${star === "*" && word.length >= SHORTEST_PREFIX ? "*" : ""}"`;
  });
  const kept = terms.filter((term) => term !== undefined);
  const joined = kept.filter((term, at) => term !== "OR" || isBetweenTerms(kept, at));
  return joined.length === 0 ? undefined : joined.join(" ");
}

export function cutQuery(query: string): string {
  return query.slice(0, LONGEST_QUERY);
}

/** Query for a text that is still being typed: its last word also matches longer words. */
export function prefixQuery(query: string): string {
  return /[\p{L}\p{N}\p{M}_]$/u.test(query) ? `${query}*` : query;
}

/** The same terms, any of which is enough. */
export function matchAny(expression: string): string {
  return expression.replaceAll('" "', '" OR "');
}

function isBetweenTerms(terms: readonly string[], at: number): boolean {
  const [before, after] = [terms[at - 1], terms[at + 1]];
  return before !== undefined && before !== "OR" && after !== undefined;
}

function wordsOf(text: string): readonly string[] {
  return spaceCharacters(text).match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
}

/** Accents after the decomposition of their letters. */
const ACCENTS = /[\u0300-\u036f]+/g;

export function foldForSearch(text: string): string {
  return text.normalize("NFD").replaceAll(ACCENTS, "").normalize("NFC").toLowerCase();
}

/**
 * Scripts without spaces between words. SQLite reads a run of them as one word. The index stores each character as a
 * word, and a search for a run is a search for a phrase. Korean is included because its words carry endings.
 */
const SCRIPTS = ["Han", "Hira", "Kana", "Hang", "Bopo", "Thai", "Laoo", "Khmr", "Mymr"];
let unspaced: { readonly any: RegExp; readonly each: RegExp } | undefined;

/** Matches one character with its combining marks. Built at its first use, because that takes 2 ms of a start. */
function unspacedCharacter(): { readonly any: RegExp; readonly each: RegExp } {
  if (unspaced !== undefined) return unspaced;
  const character = `[${SCRIPTS.map((script) => `\\p{scx=${script}}`).join("")}]\\p{M}*`;
  unspaced = { any: new RegExp(character, "u"), each: new RegExp(character, "gu") };
  return unspaced;
}

export function hasUnspacedScript(text: string): boolean {
  return unspacedCharacter().any.test(text);
}

/** Puts spaces around each character of such a script. */
export function spaceCharacters(text: string): string {
  return hasUnspacedScript(text) ? text.replaceAll(unspacedCharacter().each, " $& ") : text;
}

/** The index stores only this much of a message; the journal has the rest. Characters. */
const MAX_TEXT_CHARS = 8_000;

export function messageText(message: Message): string {
  return fullText(message).slice(0, MAX_TEXT_CHARS).toWellFormed();
}

function fullText(message: Message): string {
  switch (message.role) {
    case "system":
    case "tool":
      return message.content;
    case "user":
      return contentText(message.content, "\n", "[image]");
    case "assistant": {
      const calls = (message.tool_calls ?? []).map(({ function: call }) => `[${call.name} ${call.arguments}]`);
      return [message.content ?? "", ...calls].filter((text) => text !== "").join("\n");
    }
  }
}

/** Part of a snippet before the first match. Characters. */
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

/** Part of a message around the first match, in one line of plain text, or with markup that has the only match; else its start. */
export function snippetOf(text: string, query: string): Snippet {
  const lines = [withoutMarkup(text), text].map((each) => each.replaceAll(/\s+/g, " ").trim());
  const line = lines.find((each) => placesIn(each, query).length > 0) ?? lines[0] ?? "";
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
