/** Okapi BM25 over what FTS4's `matchinfo(…, 'pcnalx')` tells of the rows of a table with a single text column. */

/** The customary constants of BM25: how soon repetition stops counting, and how much length does. */
const K1 = 1.2;
const B = 0.75;
/** Numbers before the phrases' own: phrases, columns, rows, average length, this row's length. */
const HEAD_WORDS = 5;
/** Per phrase: hits in this row, hits in all rows, rows with hits. */
const PHRASE_WORDS = 3;

/**
 * Ranks the rows of one search: higher is better. A `matchinfo` is the blob as SQLite gives it, in this machine's byte
 * order. What is the same for all rows is computed for the first.
 */
export function bm25(): (matchinfo: Uint8Array) => number {
  let rarities: readonly number[] | undefined;
  return ({ buffer, byteOffset, byteLength }) => {
    const words = new Uint32Array(buffer, byteOffset, byteLength / Uint32Array.BYTES_PER_ELEMENT);
    rarities ??= raritiesOf(words);
    const averageLength = Math.max(1, words[3] ?? 0);
    const length = words[4] ?? 0;
    const saturation = K1 * (1 - B + (B * length) / averageLength);
    let rank = 0;
    for (const [phrase, rarity] of rarities.entries()) {
      const hits = words[HEAD_WORDS + phrase * PHRASE_WORDS] ?? 0;
      rank += (rarity * hits * (K1 + 1)) / (hits + saturation);
    }
    return rank;
  };
}

function raritiesOf(words: Uint32Array): readonly number[] {
  const [phrases = 0, , rows = 0] = words;
  return Array.from({ length: phrases }, (_, phrase) => {
    const rowsWithHits = words[HEAD_WORDS + phrase * PHRASE_WORDS + 2] ?? 0;
    return Math.log(1 + (rows - rowsWithHits + 0.5) / (rowsWithHits + 0.5));
  });
}
