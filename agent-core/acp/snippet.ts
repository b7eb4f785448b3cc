/** The part of a message where what was searched for stands. */

/** Around the first place. Characters. */
const BEFORE_CHARS = 40;
const SNIPPET_CHARS = 160;
const WORDS = /[\p{L}\p{N}\p{M}_]+/gu;

export type Snippet = {
  readonly snippet: string;
  /** Ranges of the snippet with a word of the query, in order. */
  readonly marks: readonly (readonly [start: number, end: number])[];
};

/** One line; without a place that has a word, the text's beginning. */
export function snippetOf(text: string, query: string): Snippet {
  const line = text.replaceAll(/\s+/g, " ");
  const words = new Set([...query.matchAll(WORDS)].map(([word]) => word.toLowerCase()));
  const places = [...line.matchAll(WORDS)].filter(([word]) => words.has(word.toLowerCase()));
  const start = Math.max(0, (places[0]?.index ?? 0) - BEFORE_CHARS);
  const head = start > 0 ? "…" : "";
  const cut = line.slice(start, start + SNIPPET_CHARS).toWellFormed();
  const marks = places.flatMap(({ 0: word, index }): [number, number][] => {
    const from = index - start;
    return from + word.length > cut.length ? [] : [[from + head.length, from + word.length + head.length]];
  });
  return { snippet: `${head}${cut}${start + SNIPPET_CHARS < line.length ? "…" : ""}`, marks };
}
