/**
 * Makes invisible characters visible. The user must see exactly what a permission covers: control characters, and
 * format characters that hide or reorder text. Regular expressions only, because the webview imports this file too.
 */

/** Hangul fillers are letters without a glyph. */
const UNSEEN = /[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** The text with each invisible character as its code point, such as ⟨U+202E⟩. Line feeds and tabs stay. */
export function visibleText(text: string): string {
  return text.replaceAll(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}
