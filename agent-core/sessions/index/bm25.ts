/** Okapi BM25 over what FTS4's `matchinfo(…, 'pcnalx')` tells of one row of a table with a single text column. */

/** The customary constants of BM25: how soon repetition stops counting, and how much length does. */
const K1 = 1.2;
const B = 0.75;
const WORD_BYTES = 4;
/** Numbers before the phrases' own: phrases, columns, rows, average length, this row's length. */
const HEAD_WORDS = 5;
/** Per phrase: hits in this row, hits in all rows, rows with hits. */
const PHRASE_WORDS = 3;

/** Rank of the row: higher is better. `matchinfo` is the blob as SQLite gives it, in this machine's byte order. */
export function bm25(matchinfo: Uint8Array): number {
  const view = new DataView(matchinfo.buffer, matchinfo.byteOffset, matchinfo.byteLength);
  const word = (index: number): number => view.getUint32(index * WORD_BYTES, true);
  const phrases = word(0);
  const rows = word(2);
  const averageLength = Math.max(1, word(3));
  const length = word(4);
  let rank = 0;
  for (let phrase = 0; phrase < phrases; phrase += 1) {
    const hits = word(HEAD_WORDS + phrase * PHRASE_WORDS);
    const rowsWithHits = word(HEAD_WORDS + phrase * PHRASE_WORDS + 2);
    const rarity = Math.log(1 + (rows - rowsWithHits + 0.5) / (rowsWithHits + 0.5));
    rank += (rarity * hits * (K1 + 1)) / (hits + K1 * (1 - B + (B * length) / averageLength));
  }
  return rank;
}
