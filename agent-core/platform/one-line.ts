const ENTITIES = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&#39;": "'", "&amp;": "&" };

/** The text with the characters that XML escapes. */
export function withoutEntities(text: string): string {
  return Object.entries(ENTITIES).reduce((plain, [escaped, letter]) => plain.replaceAll(escaped, letter), text);
}

/** Part of a text that is read for each character of the line: it may have blanks, and megabytes. */
const READ_CHARS = 50;

/** The text in one line of at most `limit` characters. A longer one ends with an ellipsis, and in a whole character. */
export function oneLine(text: string, limit: number): string {
  const start = text.slice(0, limit * READ_CHARS);
  const line = start.replaceAll(/\s+/g, " ").trim();
  if (line.length <= limit && start.length === text.length) return line;
  return truncate(`${line}…`, limit - 1);
}

/** Both ends of a text of more than `limit` characters, in whole characters, with `gap` between them. */
export function bothEnds(text: string, limit: number, gap = "\n[…]\n"): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  return `${text.slice(0, half).toWellFormed()}${gap}${text.slice(-half).toWellFormed()}`;
}

/** The first `chars` characters with an ellipsis, in whole characters and without blanks before it; a text that fits. */
export function truncate(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return `${text
    .slice(0, chars)
    .replace(/[\uD800-\uDBFF]$/, "")
    .trimEnd()}…`;
}
