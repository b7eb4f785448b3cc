/** The text of a file that a patch adds, from its section's lines. */

/** Heads of a diff from nothing. */
const DIFF_HEADS = /^--- [^\n]*\n\+\+\+ [^\n]*\n/;
const HUNK_HEAD = /^@@/;
const END_OF_FILE = /^\*\*\* *End of File/i;
const NO_FINAL_BREAK = /^\\ No newline/;

export type AddedText = {
  readonly text: string;
  /** A line without its plus sign among others that have theirs: it may belong to the text or not. */
  readonly bareLine: string | undefined;
};

/** Some models leave all plus signs out; then the lines are the text as they stand. */
export function addedText(section: readonly string[]): AddedText {
  const lines = section
    .join("\n")
    .replace(DIFF_HEADS, "")
    .split("\n")
    .filter((line) => !END_OF_FILE.test(line));
  while (lines.at(-1) === "") lines.pop();
  const isMarked = lines.some((line) => line.startsWith("+"));
  if (!isMarked) return { text: withFinalBreak(lines), bareLine: undefined };
  const marked = lines.filter((line) => !HUNK_HEAD.test(line) && !NO_FINAL_BREAK.test(line));
  // Blank lines lose their plus sign most often.
  const bareLine = marked.find((line) => line !== "" && !line.startsWith("+"));
  const text = withFinalBreak(marked.map((line) => line.slice(1)));
  const isCut = lines.some((line) => NO_FINAL_BREAK.test(line));
  return { text: isCut ? text.replace(/\n$/, "") : text, bareLine };
}

function withFinalBreak(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}
