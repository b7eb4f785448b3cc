import { equalWindows, type Strategy } from "./strategy.ts";

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "", '"': '"', "'": "'", "`": "`", "\\": "\\" };

/** Escapes written out once too often: `\n` and `\"` where a line break and a quote stand. */
export const escapeNormalized: Strategy = {
  how: "once its escapes were resolved",
  isSimilarity: false,
  prepare({ oldLines, newLines }) {
    const resolved = resolve(oldLines);
    // The replacement was escaped by the same hand.
    return resolved.join("\n") === oldLines.join("\n")
      ? undefined
      : { oldLines: resolved, newLines: resolve(newLines) };
  },
  find: (file, wanted) => equalWindows(file, wanted, (line) => line.trim()),
};

function resolve(lines: readonly string[]): readonly string[] {
  const text = lines.join("\n").replace(/\\([ntr"'`\\])/g, (_, letter: string) => ESCAPES[letter] ?? letter);
  return text.split("\n");
}
