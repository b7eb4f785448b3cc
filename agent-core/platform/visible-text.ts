/**
 * Makes invisible characters visible. The user must see exactly what a permission covers: control characters, and
 * format characters that hide or reorder text. Regular expressions only, because the webview imports this file too.
 */

/** Characters without a glyph, by purpose: parts of a character class of an expression with the flag `u`. */
export const INVISIBLE = {
  /** Embeddings, overrides and isolates: they reorder the text around them. */
  override: "\\u202a-\\u202e\\u2066-\\u2069",
  /** Marks of direction, which several scripts need. */
  direction: "\\u200e\\u200f",
  /** Widthless characters without a use in plain text. */
  widthless: "\\u200b\\u2060-\\u2064\\u206a-\\u206f",
  /** Joiners of emoji and several scripts. */
  joiner: "\\u200c\\u200d",
  byteOrderMark: "\\ufeff",
  /** Soft hyphen, and old marks of Arabic and Mongolian. */
  hyphen: "\\u00ad\\u061c\\u180e",
  /** Letters of Hangul without a glyph. */
  filler: "\\u115f\\u1160\\u3164\\uffa0",
  /** Copies of ASCII that nothing shows. */
  tag: "\\u{e0000}-\\u{e007f}",
} as const;

const UNSEEN = new RegExp(`[^\\P{Cc}\\n\\t]|[\\p{Cf}\\p{Zl}\\p{Zp}${INVISIBLE.filler}]`, "gu");

/** The text with each invisible character as its code point, such as ⟨U+202E⟩. Line feeds and tabs stay. */
export function visibleText(text: string): string {
  return text.replaceAll(UNSEEN, codePoint);
}

/** Markdown that shows a text as it is: the fence is longer than any run of back-ticks in the text. */
export function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Control characters, and the embeddings, overrides and isolates of the bidirectional algorithm. */
const REORDERING = new RegExp(`[^\\P{Cc}\\n\\t]|[${INVISIBLE.override}]`, "gu");

/** No script needs more marks on one letter. Longer runs draw over other lines. */
const STACKED_MARKS = /([\p{Mn}\p{Me}]{6})([\p{Mn}\p{Me}]+)/gu;

/**
 * The text with the characters that could disturb text around it as code points. Joiners and direction marks stay: emoji
 * and several scripts need them. Of a run of combining marks, six stay and the others are counted.
 */
export function containedText(text: string): string {
  return text
    .replaceAll(REORDERING, codePoint)
    .replaceAll(STACKED_MARKS, (_, shown: string, others: string) => `${shown}⟨+${[...others].length} marks⟩`);
}

function codePoint(character: string): string {
  return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
