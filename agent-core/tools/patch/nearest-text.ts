/** The part of a file that is most like a text which is not in it. */

/** A window is shown when at least this share of its lines' words is shared. */
const LEAST_SIMILARITY = 0.3;
/** Lines of the wanted text that are compared; the rest adds little and costs much. */
const COMPARED_LINES = 40;
/** Larger files are not searched for a likeness. */
const MAX_LINES = 50_000;

export type NearText = {
  /** 1-based. */
  readonly line: number;
  /** `LINE|text`, as read_file shows it. */
  readonly text: string;
};

export function nearestText(text: string, wanted: string): NearText | undefined {
  const lines = text.split(/\r?\n/);
  const wantedLines = wanted.trim().split(/\r?\n/).slice(0, COMPARED_LINES).map(wordsOf);
  if (lines.length > MAX_LINES || wantedLines.length > lines.length) return undefined;
  const words = lines.map(wordsOf);
  let best = { score: 0, at: 0 };
  for (let at = 0; at + wantedLines.length <= lines.length; at += 1) {
    const score = wantedLines.reduce((sum, line, index) => sum + similarity(line, words[at + index] ?? new Set()), 0);
    if (score > best.score) best = { score, at };
  }
  if (best.score < wantedLines.length * LEAST_SIMILARITY) return undefined;
  const shown = lines.slice(best.at, best.at + wantedLines.length);
  return { line: best.at + 1, text: shown.map((line, index) => `${best.at + 1 + index}|${line}`).join("\n") };
}

function wordsOf(line: string): ReadonlySet<string> {
  return new Set(line.match(/\w+|[^\s\w]/g) ?? []);
}

/** Shared words over all words; two blank lines are alike. */
function similarity(first: ReadonlySet<string>, second: ReadonlySet<string>): number {
  if (first.size === 0 && second.size === 0) return 1;
  let shared = 0;
  for (const word of first) if (second.has(word)) shared += 1;
  return shared / (first.size + second.size - shared);
}
