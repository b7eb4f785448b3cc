/** How far reaches what a line begins: a function, a class, a section of indented lines. */
import { indentOf, type TextLines } from "../lines.ts";

/** Lines as deep as the first that go on with it: what opens its body, what follows a signature over several lines. */
const CONTINUES = /^(?:[{)\]]|\}.*[{:]$)/;
/** The last of its lines. */
const CLOSES = /^(?:\}|end\b)/;

/** The first line that is no longer part of it: by indentation, with a closing bracket. */
export function blockEnd(file: TextLines, first: number): number {
  const depth = indentOf(file.at(first)).length;
  for (let line = first + 1; line < file.length; line += 1) {
    const text = file.at(line);
    const said = text.trim();
    if (said === "" || indentOf(text).length > depth || CONTINUES.test(said)) continue;
    return CLOSES.test(said) ? line + 1 : line;
  }
  return file.length;
}
