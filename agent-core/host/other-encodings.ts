/**
 * Texts in other encodings than UTF-8. Bytes decide where no byte order mark does. A wrong guess costs nothing but the look of
 * some characters: a text counts only if it gives the same bytes again.
 */
import { createHash } from "node:crypto";
import iconv from "iconv-lite";
import { detectAll } from "jschardet";

export type OtherText = { readonly text: string; readonly encoding: string; readonly hasMark: boolean };

/** Encodings by their byte order marks. */
const MARKS = { fffe0000: "utf-32le", "0000feff": "utf-32be", efbbbf: "", fffe: "utf-16le", feff: "utf-16be" };

/** The only encodings with zeros. Their characters have two or four bytes. */
const WIDE = ["utf-32le", "utf-32be", "utf-16le", "utf-16be"];
/** Name for UTF-8 with single bytes between its characters. Each is a character from U+F780, and the same byte again. */
const MIXED = "UTF-8 with other bytes";
/** Characters of UTF-8 in a row, or one byte that belongs to none. */
const MIXED_PARTS =
  /(?:(?!\xe0[\x80-\x9f]|\xed[\xa0-\xbf]|\xf0[\x80-\x8f]|\xf4[\x90-\xbf])(?:[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}))+|[\x80-\xff]/g;
/** Name for line ends of old Macs. */
const OLD_MAC = "UTF-8 with CR line ends";
/** Bytes of UTF-8 for each other one. Short texts in EUC-JP reach 1.6 by chance. */
const MIXED_SHARE = 2;

/** Bytes that are looked at. */
const PROBE_BYTES = 65_536;
/** Programs and pictures show in so many bytes that they are no text. */
const START_BYTES = 400;
/** Fewer different words say little to statistics: these files are mostly Western European. */
const FEW_WORDS = 7;
/** How much likelier a usual encoding must be than a Western European one, where words are few. */
const CLEARLY = 1.3;
/** Lower confidences are chance. */
const LEAST = 0.03;
const WESTERN = /^(?:windows-1252|iso-?8859-(?:1|15))$/;
const USUAL = /^(?:windows-125\d|iso-8859-[29]|gb18030|big5|shift_jis|euc-..|cp949)$/;
/** Signs of a wrong encoding in a text as Western European: symbols or capitals inside of words, words without plain letters. */
const ODD = /\p{Ll}\p{Lu}|\p{L}[^\p{L}\p{P}\s\d_=+<>$^|~]+\p{L}|\p{L}[¿¡]\p{L}|(?:(?![a-zA-Z])\p{L}){3}/u;
/** Two alphabets in a word, one Chinese character within a word, parts of a drawn box beside a letter, or as letters. */
const TORN =
  /[a-z]\p{Script=Han}[a-z]|[a-z](?:[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}]|[\u2500-\u259f])|[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}\u2500-\u259f][a-z]|\d[\u2500-\u259f]|((?![\w\u3000-\ud7ff])[\p{L}\p{M}])\1{5}/iu;
/** Share of ASCII in UTF-16 without a mark: zeros are mostly the sign of a program. */
const PLAIN_SHARE = 0.1;
/** Encodings that lose a tie. */
const RARE = /^(?:cp|mac)/i;

/** Bytes that only texts of two or four bytes a character have, and the escape of ISO-2022-JP, which the library lacks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: programs and pictures have them
const BINARY = /[\x00-\x08\x0e-\x1a\x1c-\x1f]|\x1b\$B/;
/** Characters that no text has. */
const CONTROL = /\ufffd|[\p{Cn}\p{Cs}]|[^\P{Cc}\s]/u;

export function decodeOther(bytes: Buffer): OtherText | undefined {
  const start = bytes.toString("hex", 0, 4);
  const [mark = "", marked = ""] = Object.entries(MARKS).find(([each]) => start.startsWith(each)) ?? [];
  if (marked !== "") return decoded(bytes, marked, true);
  const earlier = written.size === 0 ? undefined : written.get(digestOf(bytes));
  if (earlier !== undefined) return decoded(bytes, earlier, mark !== "");
  const probe = probeOf(bytes);
  if (probe.includes("\0")) return firstOf(WIDE, bytes, false);
  if (BINARY.test(bytes.toString("latin1"))) return undefined;
  const parts = probe.match(MIXED_PARTS) ?? [];
  const foreign = parts.filter((part) => part.length === 1).length;
  const isMixed = parts.join("").length - foreign >= MIXED_SHARE * foreign;
  const old = bytes.includes("\n") ? [] : [OLD_MAC];
  const names = [...old, ...(isMixed ? [MIXED] : []), ...guesses(probe), MIXED];
  return firstOf(names, bytes, mark !== "");
}

/** The bytes in the first encoding in which they are a text. */
function firstOf(names: readonly string[], bytes: Buffer, hasMark: boolean): OtherText | undefined {
  for (const name of names) {
    const found = decoded(bytes, name, name in OWN && hasMark);
    const isPlain = (text: string): boolean => text.replaceAll(/[^\s!-~]/g, "").length >= PLAIN_SHARE * text.length;
    if (found !== undefined && (!name.startsWith("utf-16") || isPlain(found.text))) return found;
  }
  return undefined;
}

/** The lines with bytes beyond ASCII, each byte as a character; the beginning of what may be UTF-16. */
function probeOf(bytes: Buffer): string {
  const start = bytes.toString("latin1", 0, PROBE_BYTES);
  if (start.includes("\0")) return start;
  const lines = bytes
    .toString("latin1")
    .split(/(?<=\n)/)
    .filter((line) => /[\x80-\xff]/.test(line));
  return lines.join("").slice(0, PROBE_BYTES);
}

/** Encodings that the bytes may have, the likeliest first. */
function guesses(probe: string): readonly string[] {
  const bytes = Buffer.from(probe, "latin1");
  const weight = (name: string, confidence: number): number => (RARE.test(name) ? 0.99 : 1) * confidence;
  const found = detectAll(bytes, { minimumThreshold: 0 })
    .map(({ encoding, confidence }) => ({ name: encoding?.toLowerCase() ?? "", confidence }))
    .filter(({ name }) => iconv.encodingExists(name) && !TORN.test(iconv.decode(bytes, name)))
    .toSorted((one, other) => weight(other.name, other.confidence) - weight(one.name, one.confidence));
  const words = new Set(probe.match(/[a-z\x80-\xff]*[\x80-\xff][a-z\x80-\xff]*/gi));
  const names = found.map(({ name }) => name);
  if (words.size >= FEW_WORDS) return names;
  const usual = [...names.filter((name) => !RARE.test(name)), ...names];
  const asWestern = iconv.decode(bytes, "windows-1252");
  if (ODD.test(asWestern)) return usual;
  const western = found.find(({ name }) => WESTERN.test(name))?.confidence ?? 0;
  const best = found.find(({ name }) => USUAL.test(name)) ?? { name: "windows-1252", confidence: 0 };
  const isClear = best.confidence >= Math.max(LEAST, CLEARLY * western);
  return [isClear && iconv.decode(bytes, best.name) !== asWestern ? best.name : "windows-1252", ...usual];
}

/** Encodings of texts that were written here, by a digest of their bytes: an edit may change what the letters suggest. */
const written = new Map<string, string>();
const MAX_WRITTEN = 1_000;

function digestOf(bytes: Buffer): string {
  return createHash("sha1").update(bytes).digest("base64");
}

/** Throws an Error for a text with characters that the encoding lacks. */
export function encodeOther(text: string, encoding: string, hasMark: boolean): Buffer {
  const bytes = bytesOf(text, encoding, hasMark);
  if (textOf(bytes, encoding) === text) {
    if (written.size >= MAX_WRITTEN) written.clear();
    written.set(digestOf(bytes), encoding);
    return bytes;
  }
  throw new Error(`it has characters that ${encoding}, the file's encoding, lacks. Nothing was written`);
}

function decoded(bytes: Buffer, encoding: string, hasMark: boolean): OtherText | undefined {
  const start = textOf(bytes.subarray(0, START_BYTES), encoding).slice(0, -3); // a character may be cut
  if (CONTROL.test(start)) return undefined;
  const text = textOf(bytes, encoding);
  const isText = !CONTROL.test(text) && bytesOf(text, encoding, hasMark).equals(bytes);
  return isText ? { text, encoding, hasMark } : undefined;
}

/** Encodings that the library lacks, with a byte order mark as a character. */
const OWN: Readonly<Record<string, { decode(bytes: Buffer): string; encode(text: string): Buffer }>> = {
  [MIXED]: {
    decode: (bytes) =>
      bytes.toString("latin1").replace(MIXED_PARTS, (part) => {
        const isOther = part.length === 1;
        return isOther ? String.fromCharCode(0xf700 + part.charCodeAt(0)) : Buffer.from(part, "latin1").toString();
      }),
    encode(text) {
      const parts = text.split(/([\uf780-\uf7ff]+)/);
      return Buffer.concat(parts.map((part, index) => Buffer.from(part, index % 2 === 0 ? "utf8" : "latin1")));
    },
  },
  [OLD_MAC]: {
    decode: (bytes) => bytes.toString().replaceAll("\r", "\n"),
    encode: (text) => Buffer.from(text.replaceAll("\n", "\r")),
  },
};

function textOf(bytes: Buffer, encoding: string): string {
  return OWN[encoding]?.decode(bytes).replace(/^\ufeff/, "") ?? iconv.decode(bytes, encoding);
}

function bytesOf(text: string, encoding: string, hasMark: boolean): Buffer {
  const own = OWN[encoding]?.encode(`${hasMark ? "\ufeff" : ""}${text}`);
  return own ?? iconv.encode(text, encoding, { addBOM: hasMark });
}
