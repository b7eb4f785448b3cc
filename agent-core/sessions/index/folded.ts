/** Text as a search compares it: case and accents do not count, as in SQLite's full-text search. Its LIKE knows ASCII only. */

/** Accents that stand after their letter once it is taken apart. */
const ACCENTS = /[\u0300-\u036f]+/g;

export function folded(text: string): string {
  return text.normalize("NFD").replaceAll(ACCENTS, "").normalize("NFC").toLowerCase();
}
