/** Typographic and invisible characters, which models and files write in different ways. */
import { diffArrays } from "diff";
import { INVISIBLE } from "../../platform/visible-text.ts";
import { isAscii } from "./text-lines.ts";

/** Characters without a shape: zero-width, soft hyphen, and direction marks. */
const { override, direction, widthless, joiner, byteOrderMark, hyphen } = INVISIBLE;
const SHAPELESS = new RegExp(`[${override}${direction}${widthless}${joiner}${byteOrderMark}${hyphen}]`, "gu");

const QUOTES: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201a\u201b\u2032\u00b4]/g, "'"],
  [/[\u201c\u201d\u201e\u201f\u2033]/g, '"'],
];
const withPlainQuotes = (text: string): string =>
  QUOTES.reduce((changed, [from, to]) => changed.replace(from, to), text);
/** Typographic characters that models write for plain ones, or the reverse. */
const PLAIN: readonly (readonly [RegExp, string])[] = [
  ...QUOTES,
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/\u2026/g, "..."],
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "],
  [SHAPELESS, ""],
];

export function plain(text: string): string {
  if (isAscii(text)) return text;
  // Compatibility makes two characters of some quotes, and typographic ones of others.
  const compatible = withPlainQuotes(text).normalize("NFKC");
  return PLAIN.reduce((changed, [from, to]) => changed.replace(from, to), compatible);
}

/** Makes the quotes of new lines plain where the model curls those of a file that has plain ones. */
export function quotesOf(present: readonly string[], wanted: readonly string[]): (text: string) => string {
  const isCurled = (line: string): boolean => withPlainQuotes(line) !== line;
  return wanted.some(isCurled) && !present.some(isCurled) ? withPlainQuotes : (text) => text;
}

/** Code points of invisible characters, such as `U+200B`, in order. */
export function invisiblesOf(text: string): string {
  const found = isAscii(text) ? [] : (text.match(SHAPELESS) ?? []);
  return found.map((character) => `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`).join(" ");
}

/** Words with the blanks after them; smaller parts may be equal by chance. */
const CHUNK = /\S+\s*|\s+/g;
/** Lines with more changes share nothing that is worth the time to find. */
const MAX_CHANGED_CHUNKS = 500;

/**
 * A line that replaces `wanted`, with the characters of the file's line `present` where both say the same. Returns
 * `text` when the lines differ in more than their typography.
 */
export function keepTypography(present: string, wanted: string, text: string): string {
  if (present === wanted || (isAscii(present) && isAscii(wanted))) return text;
  const [theirs, ours] = [new PlainOffsets(present.trimEnd()), new PlainOffsets(wanted.trimEnd())];
  const changes = diffArrays(chunksOf(wanted), chunksOf(text), { maxEditLength: MAX_CHANGED_CHUNKS });
  if (theirs.text !== ours.text || changes === undefined) return text;
  const original = (start: number, end: number): string => {
    const [first, last] = [ours.plainAt(start), ours.plainAt(end)].map((at) => theirs.offsetOf(at));
    return first === undefined || last === undefined ? wanted.slice(start, end) : present.slice(first, last);
  };
  const parts: string[] = [];
  let at = 0;
  let gone = "";
  for (const { added, removed, value } of changes) {
    const part = value.join("");
    if (added) {
      const head = commonStart(gone, part);
      const tail = commonEnd(gone.slice(head), part.slice(head));
      const start = at - gone.length;
      parts.push(original(start, start + head), part.slice(head, part.length - tail), original(at - tail, at));
      gone = "";
      continue;
    }
    if (!removed) parts.push(original(at, at + part.length));
    at += part.length;
    gone = removed ? part : "";
  }
  return parts.join("");
}

/** Offsets of a line's visible characters in its plain text. */
class PlainOffsets {
  readonly text: string;
  readonly #plainAt = new Map<number, number>();
  readonly #offsetOf = new Map<number, number>();

  constructor(line: string) {
    let text = "";
    const note = (index: number): void => {
      this.#plainAt.set(index, text.length);
      if (!this.#offsetOf.has(text.length)) this.#offsetOf.set(text.length, index);
    };
    for (const { segment, index } of new Intl.Segmenter().segment(line)) {
      note(index);
      text += plain(segment);
    }
    note(line.length);
    this.text = text;
  }

  /** Undefined within a character. */
  plainAt(offset: number): number | undefined {
    return this.#plainAt.get(offset);
  }

  offsetOf(plainOffset: number | undefined): number | undefined {
    return plainOffset === undefined ? undefined : this.#offsetOf.get(plainOffset);
  }
}

function chunksOf(text: string): string[] {
  return text.match(CHUNK) ?? [];
}

function commonStart(one: string, other: string): number {
  let length = 0;
  while (length < Math.min(one.length, other.length) && one[length] === other[length]) length += 1;
  return length;
}

function commonEnd(one: string, other: string): number {
  let length = 0;
  while (length < Math.min(one.length, other.length) && one.at(-1 - length) === other.at(-1 - length)) length += 1;
  return length;
}
