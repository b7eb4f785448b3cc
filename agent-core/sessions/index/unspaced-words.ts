/**
 * Writing that puts no blanks between words: Chinese, Japanese, Thai and their kin. SQLite takes a whole run of it for one
 * word. So that a part of it is found, each character is indexed as a word, and a run is looked for as a phrase of them.
 * Korean is taken with them, whose words carry their endings without a blank.
 */

const SCRIPTS = ["Han", "Hira", "Kana", "Hang", "Bopo", "Thai", "Laoo", "Khmr", "Mymr"];
/** A character with the marks that belong to it. */
const CHARACTER = `[${SCRIPTS.map((script) => `\\p{scx=${script}}`).join("")}]\\p{M}*`;
const ANY = new RegExp(CHARACTER, "u");
const EACH = new RegExp(CHARACTER, "gu");

export function hasUnspaced(text: string): boolean {
  return ANY.test(text);
}

/** With blanks around each such character; other text stays as it is. */
export function spaced(text: string): string {
  return hasUnspaced(text) ? text.replaceAll(EACH, " $& ") : text;
}
