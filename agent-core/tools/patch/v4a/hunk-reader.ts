/** Takes the lines of one updated file and gives its hunks. */
import type { Hunk, HunkLine } from "./patch-text.ts";

const UNIFIED_HEADER = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.*)$/;
const ANCHOR = /^@@ ?(.*?)(?: ?@@)?$/;
/** Heads of unified diffs, which say what the section's own head has said already. */
const FILE_HEADS = /^(?:(?:diff --git |index [0-9a-f]+\.\.)[^\n]*\n)*--- [^\n]*\n\+\+\+ [^\n]*\n(?=@@)/;

const KINDS: Readonly<Record<string, HunkLine["kind"]>> = { " ": "context", "-": "removed", "+": "added" };

export function readHunks(lines: readonly string[]): readonly Hunk[] {
  const reader = new HunkReader();
  for (const line of lines.join("\n").replace(FILE_HEADS, "").split("\n")) reader.take(line);
  return reader.end();
}

class HunkReader {
  readonly #hunks: Hunk[] = [];
  #anchors: string[] = [];
  #lines: { readonly line: HunkLine; readonly isBare: boolean }[] = [];
  #isAtEnd = false as boolean;

  take(line: string): void {
    if (line.startsWith("@@")) {
      if (this.#lines.length > 0) this.#close();
      const anchor = (UNIFIED_HEADER.exec(line) ?? ANCHOR.exec(line))?.[1]?.trim();
      if (anchor) this.#anchors.push(anchor);
      return;
    }
    if (/^\*\*\* *End of File/i.test(line)) {
      this.#isAtEnd = true;
      this.#close();
      return;
    }
    if (line.startsWith("\\ No newline")) return;
    this.#lines.push(hunkLine(line));
  }

  end(): readonly Hunk[] {
    this.#close();
    return this.#hunks;
  }

  /** Empty lines without a mark at a hunk's ends stand between it and the next, more often than in the file. */
  #close(): void {
    while (this.#lines.at(-1)?.isBare) this.#lines.pop();
    while (this.#lines[0]?.isBare) this.#lines.shift();
    if (this.#lines.length > 0) {
      const lines = this.#lines.map(({ line }) => line);
      this.#hunks.push({ anchors: this.#anchors, lines, isAtEnd: this.#isAtEnd });
      this.#anchors = [];
    }
    this.#lines = [];
    this.#isAtEnd = false;
  }
}

/** A line without a mark is context whose blank was forgotten. */
function hunkLine(line: string): { readonly line: HunkLine; readonly isBare: boolean } {
  const kind = KINDS[line[0] ?? ""];
  if (kind === undefined) return { line: { kind: "context", text: line }, isBare: line === "" };
  return { line: { kind, text: line.slice(1) }, isBare: false };
}
