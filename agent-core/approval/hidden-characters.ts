/** Characters that one does not see, and that make a text look like another. */

/** Control characters but tab and line feed, turns of the direction, zero widths. */
const HIDDEN = /(?![\n\t])\p{Cc}|[\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

/** Names them; undefined when there are none. */
export function hiddenCharacters(command: string): string | undefined {
  const found = [...new Set(command.match(HIDDEN) ?? [])];
  if (found.length === 0) return undefined;
  const codes = found.map(
    (character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`,
  );
  return `It has characters that one does not see: ${codes.slice(0, 5).join(", ")}`;
}
