/** The offline interpreter's answer about a project: the beginning of its README, and its folders. */
import { basename } from "node:path";
import { counted } from "../../platform/counted.ts";

/** The most files that one search lists. */
export const MAX_FILES = 500;
/** Length of the quote from the README. Characters. */
const README_CHARS = 1_200;
const MAX_FOLDERS = 12;

/** Path of the README in a listing of files; undefined without one. */
export function readmeIn(listing: string): string | undefined {
  return filesIn(listing).find((path) => /^readme(?:\.(?:md|markdown|txt|rst))?$/i.test(path));
}

/** Paths of a listing, without its last line about further ones. */
function filesIn(listing: string): readonly string[] {
  return listing
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("[") && !line.startsWith("Nothing found."));
}

/** Folders of a listing, with the number and kinds of their files. */
export function structureOf(listing: string): string {
  const files = filesIn(listing);
  if (files.length === 0) return "This folder has no files yet.";
  const folders = new Map<string, string[]>();
  for (const path of files) {
    const slash = path.indexOf("/");
    const folder = slash < 0 ? "." : path.slice(0, slash);
    folders.set(folder, [...(folders.get(folder) ?? []), path]);
  }
  const largest = [...folders].sort(([, one], [, other]) => other.length - one.length);
  const lines = largest.slice(0, MAX_FOLDERS).map(([folder, paths]) => {
    const name = folder === "." ? "this folder" : `\`${folder}/\``;
    return `- ${name}: ${counted(paths.length, "file")} (${kindsOf(paths)})`;
  });
  const more = largest.length - lines.length;
  const rest = more > 0 ? [`- and ${counted(more, "more folder")}`] : [];
  const total = files.length < MAX_FILES ? counted(files.length, "file") : `${MAX_FILES} files or more`;
  return [`**Structure**: ${total}.`, "", ...lines, ...rest].join("\n");
}

/** The most frequent file name extensions: `12 ts, 3 md`. */
function kindsOf(paths: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const kind = /\.([a-z0-9]+)$/i.exec(basename(path))?.[1]?.toLowerCase() ?? "other";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const frequent = [...counts].sort(([, one], [, other]) => other - one).slice(0, 3);
  return frequent.map(([kind, count]) => `${count} ${kind}`).join(", ");
}

/** The first paragraphs of a README as a quote, from a result with line numbers. Badges and comments are left out. */
export function beginningOf(result: string): string {
  const text = result
    .split("\n")
    .map((line) => line.replace(/^\d+\|/, ""))
    .join("\n")
    .replace(/<!--[\s\S]*?-->|<[^>]+>/g, "")
    .replace(/\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?/g, "");
  const lines: string[] = [];
  let size = 0;
  for (const line of text.split("\n")) {
    size += line.length + 1;
    if (lines.length > 0 && (size > README_CHARS || /^```/.test(line))) break;
    if (line.trim() !== "" || (lines.length > 0 && lines.at(-1) !== "")) lines.push(line.trimEnd());
  }
  while (lines.at(-1) === "") lines.pop();
  if (lines.length === 0) return "The README is empty.";
  return `The README says:\n\n${lines.map((line) => `> ${line}`.trimEnd()).join("\n")}`;
}
