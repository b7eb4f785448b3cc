/** Formulas in Markdown: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`, and the texts that only look like them. */
import type { MarkdownIt } from "markdown-it";

export type InlineRule = Parameters<MarkdownIt["inline"]["ruler"]["before"]>[2];
export type BlockRule = Parameters<MarkdownIt["block"]["ruler"]["before"]>[2];

/** A longer text is not a formula. Characters. */
const MAX_CHARS = 2_000;

/** Class of the elements whose text is a formula with its marks. */
export const MATH_CLASS = "math";
export const DISPLAY_CLASS = "math-display";

/** Adds the rules to a parser. The view replaces the elements by their formulas. */
export function addMath(parser: MarkdownIt): void {
  parser.inline.ruler.before("escape", "math", inlineMath);
  parser.block.ruler.before("fence", "math-block", mathBlock, {
    alt: ["paragraph", "reference", "blockquote", "list"],
  });
  const { escapeHtml } = parser.utils;
  parser.renderer.rules["math"] = (tokens, index) => {
    const { content = "", markup = "" } = tokens[index] ?? {};
    const display = markup === "$$" || markup === "\\[" ? ` ${DISPLAY_CLASS}` : "";
    return `<span class="${MATH_CLASS}${display}">${escapeHtml(content)}</span>`;
  };
  parser.renderer.rules["math-block"] = (tokens, index) =>
    `<div class="${MATH_CLASS} ${DISPLAY_CLASS}">${escapeHtml(tokens[index]?.content ?? "")}</div>\n`;
}

export type Formula = { readonly tex: string; readonly isDisplay: boolean };

/** Formula in the text of such an element; undefined while its end is missing. */
export function formulaIn(text: string): Formula | undefined {
  const source = text.trim();
  const open = openerOf(source);
  if (open === undefined) return undefined;
  const close = CLOSERS[open];
  if (!source.endsWith(close) || source.length < open.length + close.length) return undefined;
  return { tex: source.slice(open.length, -close.length).trim(), isDisplay: open === "$$" || open === "\\[" };
}

const CLOSERS = { $$: "$$", $: "$", "\\(": "\\)", "\\[": "\\]" } as const;

type Opener = keyof typeof CLOSERS;

function openerOf(text: string): Opener | undefined {
  return (["$$", "$", "\\(", "\\["] as const).find((mark) => text.startsWith(mark));
}

/** Characters after which `$` may begin a formula: spaces, opening punctuation, and the marks of emphasis. */
const BEFORE = /[\s([{"'“‘«—–\-*_~|:;,>]/;

const inlineMath: InlineRule = (state, silent) => {
  const { src, pos } = state;
  const first = src[pos];
  if (first !== "$" && first !== "\\") return false;
  const open = openerOf(src.slice(pos, pos + 2));
  // In the middle of a line, brackets with backslashes are brackets that Markdown must not read.
  if (open === undefined || open === "\\[") return false;
  const end = open === "$" ? endOfDollars(src, pos) : endOf(src.slice(0, state.posMax), open, pos);
  if (end === undefined) return false;
  if (!silent) {
    const token = state.push("math", "", 0);
    token.content = src.slice(pos, end);
    token.markup = open;
  }
  state.pos = end;
  return true;
};

/** End of `$…$`. Amounts of money, shell variables and words between two dollars are none. */
function endOfDollars(src: string, pos: number): number | undefined {
  const before = src[pos - 1];
  if (before !== undefined && !BEFORE.test(before)) return undefined;
  if (/\s/.test(src[pos + 1] ?? " ")) return undefined;
  const end = endOf(src, "$", pos);
  if (end === undefined || /\s/.test(src[end - 2] ?? "") || /[\w$]/.test(src[end] ?? "")) return undefined;
  return src.slice(pos, end).includes("`") ? undefined : end;
}

/** Offset after the first closing mark, if the text before it is a formula. */
function endOf(src: string, open: Opener, pos: number): number | undefined {
  const close = CLOSERS[open];
  const start = pos + open.length;
  const limit = Math.min(src.length, start + MAX_CHARS);
  for (let at = start; at < limit; at += 1) {
    if (src.startsWith(close, at)) return isFormula(src.slice(start, at)) ? at + close.length : undefined;
    if (src[at] === "\\") at += 1;
  }
  return undefined;
}

/** A command of TeX, or an operator that prose has no use for. */
const OPERATOR = /\\[A-Za-z]|\\[,;!|{}]|[\^_=+<>{}|≤≥≈→∈∑∫√×·]/;
/** Parts of a formula that hold words. */
const WORDS = /\\(?:text\w*|mbox|mathrm|operatorname\*?|label|tag|begin|end)\s*\{[^{}]*\}|\\[A-Za-z]+/g;

/** True for text with operators and without a sentence, and for short terms such as `n`, `O(n)`, `2, 3` and `n - 1`. */
export function isFormula(text: string): boolean {
  const tex = text.trim();
  if (tex === "") return false;
  if (OPERATOR.test(tex)) return !/[A-Za-z]{3,}[,.]?\s+[A-Za-z]{3,}/.test(tex.replaceAll(WORDS, " "));
  if (/\s/.test(tex)) return /[A-Za-z]/.test(tex) && !/[A-Za-z]{2}/.test(tex);
  return /^[\w()[\],.!'*/%-]{1,24}$/.test(tex) && !/[A-Za-z]{4}/.test(tex);
}

/** A formula of its own: from `$$` or `\\[` at the start of a line to the end of a line, without a blank line. */
const mathBlock: BlockRule = (state, startLine, endLine, silent) => {
  const lineAt = (line: number): string => {
    const isInside = line < endLine && (state.sCount[line] ?? 0) >= state.blkIndent;
    return isInside ? state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]) : "";
  };
  if ((state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  const block = readBlock(lineAt, startLine, endLine);
  if (block === undefined || silent) return block !== undefined;
  const token = state.push("math-block", "", 0);
  token.content = block.content;
  token.map = [startLine, block.end];
  state.line = block.end;
  return true;
};

/** `end`: the line after it. */
type Block = { readonly content: string; readonly end: number };

function readBlock(lineAt: (line: number) => string, start: number, end: number): Block | undefined {
  const open = openerOf(lineAt(start));
  if (open !== "$$" && open !== "\\[") return undefined;
  let content = "";
  for (let line = start; line < end; line += 1) {
    const text = lineAt(line);
    if (text.trim() === "" || content.length + text.length > MAX_CHARS) return undefined;
    const at = text.indexOf(CLOSERS[open], line === start ? open.length : 0);
    if (at >= 0) return closedBlock(`${content}${text}`, content.length + at + CLOSERS[open].length, line + 1);
    content += `${text}\n`;
  }
  // Its end may still come: until then no other block may begin in it.
  return content.trim() === open ? undefined : { content: content.trimEnd(), end };
}

/** Nothing but punctuation may follow the closing mark on its line. */
function closedBlock(text: string, length: number, end: number): Block | undefined {
  const content = text.slice(0, length);
  const isAlone = /^[\s.,;:]*$/.test(text.slice(length));
  return isAlone && isFormula(formulaIn(content)?.tex ?? "") ? { content, end } : undefined;
}
