/** Text of a Markdown message: without fences, heads of blocks, targets of links, and pairs of marks around words. */
export function withoutMarkup(text: string): string {
  return text
    .replaceAll(/^ *(?:`{3,}|~{3,}).*$/gm, "")
    .replaceAll(/^[ \t]*(?:(?:#{1,6}|>|[-*+])[ \t]+)+/gm, "")
    .replaceAll(/(?<![\w\])])!?\[([^\]\n]*)\]\([^)\s]*\)/g, "$1")
    .replaceAll(/(?<![^\s(])(\*{1,3}|~~)(\S|\S[^\n]*?\S)\1(?![^\s.,;:!?)])/g, "$2")
    .replaceAll(/(?<![^\s(])(`+)(\S|\S[^\n]*?\S)\1(?![^\s.,;:!?)])/g, "$2");
}
