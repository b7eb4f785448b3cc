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
const WIDE: readonly { readonly name: string; readonly usual: RegExp; readonly lead?: readonly [number, number] }[] = [
  { name: "shift_jis", usual: /[\u3040-\u30ff\u3001\u3002]/ },
  { name: "euc-jp", usual: /[\u3040-\u30ff\u3001\u3002]/ },
  { name: "euc-kr", usual: /[\uac00-\ud7a3]/ },
  // The first half of the characters of GB 2312 and Big5 are the usual ones.
  { name: "gb18030", usual: /[\u4e00-\u9fff\u3000-\u3011\uff01-\uff1f]/, lead: [0xa1, 0xd7] },
  { name: "big5", usual: /[\u4e00-\u9fff\u3000-\u3011\uff01-\uff1f]/, lead: [0xa1, 0xc6] },
];
/** Japanese text is at least so much kana; the rest is kanji. */
const KANA_SHARE = 0.3;

/** Characters that no text has. */
const CONTROL = /\ufffd|[^\P{Cc}\s]/u;

/** Undefined for bytes that are no text. */
export function decodeOther(bytes: Buffer): OtherText | undefined {
  const mark = bytes.toString("hex", 0, 2);
  if (mark === "fffe") return decoded(bytes, "utf-16le", true);
  if (mark === "feff") return decoded(bytes, "utf-16be", true);
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
  return wide ?? decoded(bytes, narrowOf(probe), false);
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

/** Share of usual ones among the characters beyond ASCII; 0 when the bytes are none of this encoding. */
function usualShare(probe: Buffer, { name, usual, lead }: (typeof WIDE)[number]): number {
  const text = iconv.decode(probe, name).slice(0, -1); // a cut character may end the probe
  const beyond = [...text].filter((character) => character > "\u007f");
  if (text.includes("\ufffd") || beyond.length === 0) return 0;
  const common = beyond.filter(
    (character) => usual.test(character) && (lead === undefined || isUsual(character, name, lead)),
  );
  const share = common.length / beyond.length;
  return lead === undefined && name !== "euc-kr" ? Math.min(1, share / KANA_SHARE) * (1 - 0.001) : share;
}

function isUsual(character: string, name: string, [low, high]: readonly [number, number]): boolean {
  const [first = 0, second = 0] = iconv.encode(character, name);
  return first >= low && first <= high && (name === "big5" || second >= 0xa1);
}

/** Western European letters stand alone among ASCII; those of Cyrillic make words. */
function narrowOf(probe: Buffer): string {
  const text = probe.toString("latin1");
  const letters = text.match(/[\u00c0-\u00ff]/g)?.length ?? 0;
  const inWords = text.match(/[\u00c0-\u00ff]{3,}/g)?.join("").length ?? 0;
  return inWords > letters * USUAL_SHARE ? "windows-1251" : "windows-1252";
}
