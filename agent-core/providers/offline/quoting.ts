/** Quotes in requests: straight, curly or back quotes, or a fence, around whole words. */

/** Pattern of a quoted piece, without groups. Double quotes allow escapes. */
const QUOTED = [
  String.raw`\x60{3}[^\n\x60]*\n(?:(?!\x60{3})[\s\S])*\x60{3}`,
  String.raw`"(?:[^"\\]|\\.)*"`,
  String.raw`'[^'\n]*'`,
  String.raw`\x60[^\x60\n]*\x60`,
  "“[^“”]*”",
].join("|");

/** Text in quotes, or as few words as possible. */
export const TEXT = String.raw`(?:${QUOTED}|\S[\s\S]*?)`;
/** A path in quotes, or one word without the sentence's full stop. */
export const PATH = String.raw`(?:${QUOTED}|\S+?)`;
/** End of a sentence. The dots of `..` are not a full stop. */
export const END = String.raw`(?:(?<![./])[.!?])?\s*$`;

const quotedPiece = new RegExp(String.raw`(?<=^|[\s(:])(?:${QUOTED})(?=$|[\s.,;:!?)])`, "g");
const isQuoted = new RegExp(`^(?:${QUOTED})$`);
const fence = /^```[^\n]*\n([\s\S]*?)\n?```$/;

/** Builds the pattern of a form. Case is ignored. */
export function formPattern(source: string): RegExp {
  return new RegExp(`^${source}`, "i");
}

/** Removes the quotes around a path. */
export function unquotePath(words: string): string {
  const trimmed = words.trim();
  return isQuoted.test(trimmed) ? trimmed.slice(1, -1) : trimmed;
}

/** Removes the quotes around a text. Double quotes resolve the escapes `\n`, `\t`, `\"` and `\\`. */
export function unquoteText(words: string): string {
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

/** Removes quotes around a whole shell command. All other quotes belong to the shell. */
export function unquoteCommand(words: string): string {
  const trimmed = words.trim();
  if (fence.test(trimmed)) return unquoteText(trimmed);
  const inner = unquotePath(trimmed);
  return inner !== trimmed && trimmed.startsWith('"') ? inner.replaceAll('\\"', '"') : inner;
}

/** Text with hidden quotes, so that splitting cannot cut them. */
export type Masked = {
  readonly text: string;
  unmask(part: string): string;
};

export function maskQuotes(text: string): Masked {
  const pieces: string[] = [];
  // Private-use characters never occur in typed text.
  const masked = text.replace(quotedPiece, (piece) => `\u{e000}${pieces.push(piece) - 1}\u{e001}`);
  return {
    text: masked,
    unmask: (part) => part.replace(/\u{e000}(\d+)\u{e001}/gu, (_, index: string) => pieces[Number(index)] ?? ""),
  };
}
