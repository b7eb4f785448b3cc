/** Quoting in requests: straight, curly or back quotes, or a fence, where a word may begin and end. */

/** A quoted piece, as the source of a regular expression without groups. Double quotes know escapes. */
const QUOTED = [
  String.raw`\x60{3}[^\n\x60]*\n(?:(?!\x60{3})[\s\S])*\x60{3}`,
  String.raw`"(?:[^"\\]|\\.)*"`,
  String.raw`'[^'\n]*'`,
  String.raw`\x60[^\x60\n]*\x60`,
  "“[^“”]*”",
].join("|");

/** Text in quotes, or as few words as do. */
export const TEXT = String.raw`(?:${QUOTED}|\S[\s\S]*?)`;
/** A path in quotes, or one word without the full stop of the sentence. */
export const PATH = String.raw`(?:${QUOTED}|\S+?)`;
/** How a sentence may end; the dots of `..` are no full stop. */
export const END = String.raw`(?:(?<![./])[.!?])?\s*$`;

const quotedPiece = new RegExp(String.raw`(?<=^|[\s(:])(?:${QUOTED})(?=$|[\s.,;:!?)])`, "g");
const isQuoted = new RegExp(`^(?:${QUOTED})$`);
const fence = /^```[^\n]*\n([\s\S]*?)\n?```$/;

/** Builds the regular expression of a form; capital letters do not matter. */
export function formOf(source: string): RegExp {
  return new RegExp(`^${source}`, "i");
}

/** A path as it was meant: without its quotes. */
export function pathOf(words: string): string {
  const trimmed = words.trim();
  return isQuoted.test(trimmed) ? trimmed.slice(1, -1) : trimmed;
}

/** A text as it was meant: without its quotes; in double quotes `\n`, `\t`, `\"` and `\\` are escapes. */
export function textOf(words: string): string {
  const trimmed = words.trim();
  const fenced = fence.exec(trimmed)?.[1];
  if (fenced !== undefined) return fenced;
  if (!isQuoted.test(trimmed)) return trimmed;
  const inner = trimmed.slice(1, -1);
  return trimmed.startsWith('"')
    ? inner.replace(/\\([nt"\\])/g, (_, escaped: string) => ESCAPES[escaped] ?? "")
    : inner;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", '"': '"', "\\": "\\" };

/** A shell command as it was meant: quotes around all of it are ours, everything else is the shell's. */
export function commandOf(words: string): string {
  const trimmed = words.trim();
  if (fence.test(trimmed)) return textOf(trimmed);
  const inner = pathOf(trimmed);
  return inner !== trimmed && trimmed.startsWith('"') ? inner.replaceAll('\\"', '"') : inner;
}

/** Text with its quoted pieces hidden, so that splitting cannot cut them. */
export type Masked = {
  readonly text: string;
  unmask(part: string): string;
};

export function maskQuotes(text: string): Masked {
  const pieces: string[] = [];
  // Private-use characters: nobody types them.
  const masked = text.replace(quotedPiece, (piece) => `\u{e000}${pieces.push(piece) - 1}\u{e001}`);
  return {
    text: masked,
    unmask: (part) => part.replace(/\u{e000}(\d+)\u{e001}/gu, (_, index: string) => pieces[Number(index)] ?? ""),
  };
}
