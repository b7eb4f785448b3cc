/**
 * Texts in other encodings than UTF-8. Bytes decide where no byte order mark does. A wrong guess costs nothing but the look of
 * some characters: a text counts only if it gives the same bytes again.
 */
import iconv from "iconv-lite";

export type OtherText = { readonly text: string; readonly encoding: string; readonly hasMark: boolean };

/** Share of zeros in the high bytes of UTF-16 without a mark: nearly all of a text is ASCII. */
const ASCII_SHARE = 0.9;
/** Bytes that are looked at. */
const PROBE_BYTES = 65_536;
/** Share of usual characters in a text of the encoding. */
const USUAL_SHARE = 0.6;

/** Characters that a text in an encoding of two bytes has among its others; `lead`: usual first bytes. */
const WIDE: readonly {
  readonly name: string;
  readonly usual: RegExp;
  readonly lead?: readonly [number, number];
  /** The second byte of a character may be any. */
  readonly isDense?: true;
}[] = [
  { name: "shift_jis", usual: /[\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]/, lead: [0x81, 0x97], isDense: true },
  { name: "euc-jp", usual: /[\u3040-\u30ff\u3001\u3002]/ },
  { name: "euc-kr", usual: /[\uac00-\ud7a3]/, lead: [0xb0, 0xc8] },
  // The first half of the characters of GB 2312 and Big5 are the usual ones.
  { name: "gb18030", usual: /[\u4e00-\u9fff\u3000-\u3011\uff01-\uff1f]/, lead: [0xa1, 0xd7] },
  { name: "big5", usual: /[\u4e00-\u9fff\u3000-\u3011\uff01-\uff1f]/, lead: [0xa1, 0xc6], isDense: true },
];
/** Japanese text is at least so much kana; the rest is kanji. */
const KANA_SHARE = 0.3;

/** Characters that no text has. */
const CONTROL = /\ufffd|[^\P{Cc}\s]/u;

/** Encodings by their byte order marks. */
const MARKS = { fffe0000: "utf-32le", "0000feff": "utf-32be", fffe: "utf-16le", feff: "utf-16be" };

export function decodeOther(bytes: Buffer): OtherText | undefined {
  const start = bytes.toString("hex", 0, 4);
  const marked = Object.entries(MARKS).find(([mark]) => start.startsWith(mark));
  if (marked !== undefined) return decoded(bytes, marked[1], true);
  const probe = bytes.subarray(0, PROBE_BYTES);
  if (probe.includes(0)) {
    const [little, big] = [0, 1].map((first) => zeroShare(probe, 1 - first));
    if ((little ?? 0) > ASCII_SHARE) return decoded(bytes, "utf-16le", false);
    return (big ?? 0) > ASCII_SHARE ? decoded(bytes, "utf-16be", false) : undefined;
  }
  const wide = WIDE.map((each) => ({ name: each.name, share: usualShare(probe, each) }))
    .filter(({ share }) => share > USUAL_SHARE)
    .toSorted((first, second) => second.share - first.share)
    .map(({ name }) => decoded(bytes, name, false))
    .find((text) => text !== undefined);
  const narrow = NARROW.toSorted((first, second) => oddities(probe, first) - oddities(probe, second));
  return wide ?? narrow.map((name) => decoded(bytes, name, false)).find((text) => text !== undefined);
}

/** Throws an Error for a text with characters that the encoding lacks. */
export function encodeOther(text: string, encoding: string, hasMark: boolean): Buffer {
  const bytes = iconv.encode(text, encoding, { addBOM: hasMark });
  if (iconv.decode(bytes, encoding) === text) return bytes;
  throw new Error(`it has characters that ${encoding}, the file's encoding, lacks. Nothing was written`);
}

function decoded(bytes: Buffer, encoding: string, hasMark: boolean): OtherText | undefined {
  const text = iconv.decode(bytes, encoding);
  const isText = !CONTROL.test(text) && iconv.encode(text, encoding, { addBOM: hasMark }).equals(bytes);
  return isText ? { text, encoding, hasMark } : undefined;
}

function zeroShare(bytes: Buffer, first: number): number {
  let zeros = 0;
  for (let at = first; at < bytes.length; at += 2) if (bytes[at] === 0) zeros += 1;
  return (2 * zeros) / bytes.length;
}

type Wide = (typeof WIDE)[number];

/** Share of usual ones among the characters beyond ASCII; 0 when the bytes are none of this encoding. */
function usualShare(probe: Buffer, wide: Wide): number {
  const { name, usual, lead } = wide;
  const text = iconv.decode(probe, name).slice(0, -1); // a cut character may end the probe
  const beyond = [...text].filter((character) => character > "\u007f");
  if (text.includes("\ufffd") || beyond.length === 0) return 0;
  const common = beyond.filter(
    (character) => usual.test(character) && (lead === undefined || isUsual(character, wide)),
  );
  const share = common.length / beyond.length;
  return lead === undefined ? Math.min(1, share / KANA_SHARE) * (1 - 0.001) : share;
}

function isUsual(character: string, { name, lead: [low, high] = [0, 0], isDense }: Wide): boolean {
  const [first = 0, second = 0] = iconv.encode(character, name);
  return first >= low && first <= high && (isDense === true || second >= 0xa1);
}

/** Encodings of one byte, the usual ones first. */
const NARROW = ["windows-1252", "windows-1251", "windows-1250", "windows-1253", "koi8-r", "cp866"];
/** Signs of a wrong encoding: capitals and symbols inside of words, two alphabets in one, Latin words without a plain letter. */
const ODD =
  /\p{Ll}\p{Lu}|\p{L}[^\p{L}\p{P}\s\d_=+<>$^|~]+\p{L}|\p{L}[¿¡]\p{L}|\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}]|[\p{Script=Cyrillic}\p{Script=Greek}]\p{Script=Latin}|(?![a-zA-Z])\p{Script=Latin}(?![a-zA-Z])\p{Script=Latin}(?![a-zA-Z])\p{Script=Latin}/gu;

function oddities(probe: Buffer, encoding: string): number {
  return iconv.decode(probe, encoding).match(ODD)?.length ?? 0;
}
