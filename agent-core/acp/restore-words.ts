/** A restore in words, for editors that show nothing but text. */
import { relative } from "node:path";
import type { HermesRestoredFile } from "../protocol/restores.ts";

/** Longest quotation of a message. Characters. */
const QUOTED_CHARS = 60;
/** More files are counted, not named. */
const NAMED_FILES = 30;

const CHANGES: Readonly<Record<HermesRestoredFile["change"], string>> = {
  restore: "as it was before",
  remove: "removed, the agent had made it",
  recreate: "there again",
};

/** A list in Markdown; empty without files. */
export function fileLines(files: readonly HermesRestoredFile[], cwd: string): readonly string[] {
  const lines = files.map(({ path, change, added, removed, leftAlone }) => {
    const name = `\`${relative(cwd, path) || path}\``;
    if (leftAlone !== undefined) return `- ${name} left alone: ${leftAlone}`;
    const counts = added === undefined || removed === undefined ? "" : ` (+${added} −${removed})`;
    return `- ${name} ${CHANGES[change]}${counts}`;
  });
  const more = lines.length - NAMED_FILES;
  return more > 0 ? [...lines.slice(0, NAMED_FILES), `- … and ${more} more`] : lines;
}

/** The beginning of a message, in quotation marks. */
export function quoted(prompt: string): string {
  const line = prompt.replace(/\s+/g, " ").trim();
  return `“${line.length > QUOTED_CHARS ? `${line.slice(0, QUOTED_CHARS)}…` : line}”`;
}

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
