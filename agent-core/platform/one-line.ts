/** The text in one line of at most `limit` characters. A longer one ends with an ellipsis, and in a whole character. */
export function oneLine(text: string, limit: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= limit ? line : `${line.slice(0, limit - 1).toWellFormed()}…`;
}
