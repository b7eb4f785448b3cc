/** What `${x#…}`, `${x/…}`, `${x:…}` and `${x^…}` make of a known text; undefined where that is not certain. */

export type Change = (text: string) => string | undefined;

export type Pattern = {
  readonly text: string;
  readonly known: boolean;
  /** Written without quotes and expansions, so that `*` in it is a wildcard. */
  readonly bare: boolean;
};

/** Longest texts that a pattern is matched against, and longest patterns (UTF-16 units). */
const MAX_MATCHED = 4096;
const MAX_PATTERN = 64;
const SPECIAL = /[*?[\\(]/;

/** `#`, `##`, `%`, `%%`. */
export function remover(sign: string, pattern: Pattern): Change {
  const remove = sign.startsWith("%") ? fromEnd : fromStart;
  return (text) => {
    if (!pattern.known || pattern.text.length > MAX_PATTERN || text.length > MAX_MATCHED) return undefined;
    return remove(text, pattern, sign.length === 2);
  };
}

/** Of the patterns with wildcards only `*x` is read: others are not worth the risk of reading them wrongly. */
function fromStart(text: string, { text: pattern, bare }: Pattern, greedy: boolean): string | undefined {
  if (!SPECIAL.test(pattern)) return text.startsWith(pattern) ? text.slice(pattern.length) : text;
  const rest = pattern.slice(1);
  if (!bare || !pattern.startsWith("*") || rest === "" || SPECIAL.test(rest)) return undefined;
  const at = greedy ? text.lastIndexOf(rest) : text.indexOf(rest);
  return at < 0 ? text : text.slice(at + rest.length);
}

/** And only `x*` from the end. */
function fromEnd(text: string, { text: pattern, bare }: Pattern, greedy: boolean): string | undefined {
  if (!SPECIAL.test(pattern)) return text.endsWith(pattern) ? text.slice(0, text.length - pattern.length) : text;
  const rest = pattern.slice(0, -1);
  if (!bare || !pattern.endsWith("*") || rest === "" || SPECIAL.test(rest)) return undefined;
  const at = greedy ? text.indexOf(rest) : text.lastIndexOf(rest);
  return at < 0 ? text : text.slice(0, at);
}

/** `/`, `//`, `/#`, `/%`, for patterns without wildcards. */
export function replacer(sign: string, pattern: Pattern, replacement: Pattern): Change {
  const plain = pattern.known && replacement.known && !/[*?[\\(&]/.test(pattern.text + replacement.text);
  const from = pattern.text;
  const to = replacement.text;
  return (text) => {
    if (!plain || from === "" || text.length > MAX_MATCHED || to.length > MAX_PATTERN) return undefined;
    if (sign === "//") return text.replaceAll(from, () => to);
    if (sign === "/") return text.replace(from, () => to);
    if (sign === "/#") return text.startsWith(from) ? to + text.slice(from.length) : text;
    return text.endsWith(from) ? text.slice(0, text.length - from.length) + to : text;
  };
}

/** `${x:offset:length}`. */
export function slicer(offset: string, length: string | undefined): Change {
  return (text) => {
    const from = numberOf(offset);
    const count = length === undefined ? text.length : numberOf(length);
    if (from === undefined || count === undefined) return undefined;
    const start = from < 0 ? text.length + from : from;
    if (start < 0) return "";
    return count < 0 ? text.slice(start, text.length + count) : text.slice(start, start + count);
  };
}

/** A plain number; undefined for anything that would have to be calculated. */
export function numberOf(text: string): number | undefined {
  const plain = text.trim();
  return /^-?(?:0|[1-9]\d{0,5})$/.test(plain) ? Number(plain) : undefined;
}

/** `^`, `^^`, `,`, `,,` without a pattern. */
export function caseChanger(sign: string, pattern: string | undefined): Change {
  const change = (part: string) => (sign.startsWith("^") ? part.toUpperCase() : part.toLowerCase());
  return (text) => {
    if (pattern !== undefined && pattern !== "?") return undefined;
    return sign.length === 2 ? change(text) : change(text.slice(0, 1)) + text.slice(1);
  };
}

/** `@U`, `@L`; the other letters are not read. */
export function letterChanger(letter: string): Change {
  return (text) => {
    if (letter === "U") return text.toUpperCase();
    return letter === "L" ? text.toLowerCase() : undefined;
  };
}
