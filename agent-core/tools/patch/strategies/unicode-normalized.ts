import { equalWindows, type Strategy } from "./strategy.ts";

/** Characters that models put in the place of plainer ones, or the other way round. */
const PLAIN: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201a\u201b\u2032]/g, "'"],
  [/[\u201c\u201d\u201e\u201f\u2033]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/\u2026/g, "..."],
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "],
  [/[\u200b-\u200d\u2060\ufeff]/g, ""],
];

/** Without a typographic character. */
const ASCII = /^[\t -~]*$/;
const BEYOND_ASCII = /[^\0-\x7f]/;

export const unicodeNormalized: Strategy = {
  how: "apart from typographic characters",
  isSimilarity: false,
  find(file, wanted) {
    const hasAny = BEYOND_ASCII.test(file.text) || wanted.some((line) => BEYOND_ASCII.test(line));
    return hasAny ? equalWindows(file, wanted, plain, false) : [];
  },
};

function plain(line: string): string {
  if (ASCII.test(line)) return line.trim();
  return PLAIN.reduce((text, [from, to]) => text.replace(from, to), line.normalize("NFKC")).trim();
}
