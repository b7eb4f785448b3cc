/** Brace expansion as in bash: it works on the text of a word, before every other expansion. */

/** A word that expands to more words than this is unknown. */
const MAX_WORDS = 200;
/** Longer words (UTF-16 units) are not taken apart: the search for the braces' ends is quadratic. */
const MAX_LENGTH = 2000;

/** Words that the source text of one word expands to; undefined for too many words or too long a text. */
export function expandBraces(source: string): readonly string[] | undefined {
  if (source.length > MAX_LENGTH) return undefined;
  const open = findOpen(source);
  if (open === undefined) return [source];
  const [before, items, after] = open;
  const words: string[] = [];
  const tails = expandBraces(after);
  if (tails === undefined) return undefined;
  for (const item of items) {
    const middles = expandBraces(item);
    if (middles === undefined) return undefined;
    for (const middle of middles) for (const tail of tails) words.push(before + middle + tail);
    if (words.length > MAX_WORDS) return undefined;
  }
  return words;
}

type Brace = readonly [before: string, items: readonly string[], after: string];

/** The first brace that expands: the text before it, its items, the text after it. */
function findOpen(source: string): Brace | undefined {
  for (let start = 0; start < source.length; start = next(source, start)) {
    if (source[start] !== "{" || source[start - 1] === "$") continue;
    const brace = readBrace(source, start);
    if (!brace) continue;
    const [items, end] = brace;
    return [source.slice(0, start), items, source.slice(end)];
  }
  return undefined;
}

function readBrace(source: string, start: number): readonly [readonly string[], number] | undefined {
  let depth = 0;
  let from = start + 1;
  const items: string[] = [];
  for (let at = start; at < source.length; at = next(source, at)) {
    const character = source[at];
    if (character === "{") depth += 1;
    else if (character === "," && depth === 1) {
      items.push(source.slice(from, at));
      from = at + 1;
    } else if (character === "}") {
      depth -= 1;
      if (depth > 0) continue;
      const last = source.slice(from, at);
      const all = items.length > 0 ? [...items, last] : sequence(last);
      return all && [all, at + 1];
    }
  }
  return undefined;
}

/** Position after the character, the escape or the quoted string at `at`. */
function next(source: string, at: number): number {
  const character = source[at];
  if (character === "\\") return at + 2;
  if (character === "'" || character === '"' || character === "`") return afterQuote(source, at, character);
  if (character === "$" && source[at + 1] === "{") return afterParameter(source, at);
  return at + 1;
}

function afterQuote(source: string, at: number, quote: string): number {
  for (let end = at + 1; end < source.length; end += 1) {
    if (source[end] === "\\" && quote !== "'") end += 1;
    else if (source[end] === quote) return end + 1;
  }
  return source.length;
}

function afterParameter(source: string, at: number): number {
  const end = source.indexOf("}", at);
  return end < 0 ? source.length : end + 1;
}

/** `1..5`, `a..e`, `1..9..2`. */
function sequence(text: string): readonly string[] | undefined {
  const match = /^(?:(-?\d{1,9})\.\.(-?\d{1,9})|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?\d{1,9}))?$/.exec(text);
  if (!match) return undefined;
  const [, low, high, first, last, step] = match;
  const letters = first !== undefined && last !== undefined;
  const from = letters ? first.charCodeAt(0) : Number(low);
  const to = letters ? last.charCodeAt(0) : Number(high);
  const by = Math.max(1, Math.abs(Number(step ?? 1)));
  const items: string[] = [];
  for (let at = from; from <= to ? at <= to : at >= to; at += from <= to ? by : -by) {
    items.push(letters ? String.fromCharCode(at) : String(at));
    if (items.length > MAX_WORDS) break;
  }
  return items;
}
