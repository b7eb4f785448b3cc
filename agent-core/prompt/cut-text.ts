/** Cuts a file that is too long for a prompt: most of its beginning, some of its end. */

/** Characters of one context file; behaviour.md §Prompt. */
const MAX_CHARS = 20_000;
const HEAD = 0.7;
const TAIL = 0.2;

/** `path` is where all of it can be read. */
export function cutText(text: string, path: string): string {
  if (text.length <= MAX_CHARS) return text;
  const head = text.slice(0, MAX_CHARS * HEAD).toWellFormed();
  const tail = text.slice(-MAX_CHARS * TAIL).toWellFormed();
  const left = text.length - head.length - tail.length;
  return `${head}\n\n[… ${left} of ${text.length} characters left out; read ${path} for all of it …]\n\n${tail}`;
}
