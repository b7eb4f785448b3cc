/** Part of a text that is read for each character of the line: it may have blanks, and megabytes. */
const READ_CHARS = 50;

/** The text in one line of at most `limit` characters. A longer one ends with an ellipsis, and in a whole character. */
export function oneLine(text: string, limit: number): string {
  const start = text.slice(0, limit * READ_CHARS);
  const line = start.replaceAll(/\s+/g, " ").trim();
  if (line.length <= limit && start.length === text.length) return line;
  return `${line.slice(0, limit - 1).toWellFormed()}…`;
}
