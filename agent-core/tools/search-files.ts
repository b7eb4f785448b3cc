import * as z from "zod";
import type { HostSearch, SearchHit, SearchResult } from "../host/host.ts";
import { searchedFolders } from "../host/workspace-folders.ts";
import { absolutePath, shortTitle, shownPath } from "./shown-path.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

const MAX_LINE_CHARS = 300;

const input = z.object({
  pattern: z.string().min(1).describe("A regular expression; files: a glob or a part of the name"),
  target: z.enum(["content", "files"]).default("content"),
  path: z.string().min(1).default("."),
  file_glob: z.string().min(1).optional().describe("Only these files, such as *.ts"),
  limit: z.int().min(1).max(500).default(50),
  offset: z.int().min(0).default(0).describe("Hits to skip"),
  output_mode: z.enum(["content", "files_only", "count"]).default("content"),
  context: z.int().min(0).max(20).default(0).describe("Lines around each match"),
});

type Input = z.infer<typeof input>;

export const tool = defineTool({
  name: "search_files",
  toolset: "search",
  kind: "search",
  readOnly: true,
  need: "core",
  largeOutput: true,
  description: "Search the text of files, or find files by name; ignored files are skipped.",
  input,
  title: ({ pattern, target, path }) =>
    shortTitle(`${target === "files" ? "Find" : "Search"} ${pattern}${path === "." ? "" : ` in ${path}`}`),
  effect: ({ path }, cwd) => ({ kind: "read", paths: [absolutePath(path, cwd)] }),
  run,
});

/** The limits are said: a text that is there may be in such a file. */
const NOTHING = {
  content: "Nothing found. Not searched: ignored files, binary files, and files over 10 MB.",
  files: "Nothing found. Not searched: ignored files.",
};
const HITS = { content: "lines", count: "counts", files_only: "files" } as const;

async function run(call: Input, { host, cwd, otherFolders = [], signal, isSecret }: ToolContext): Promise<ToolResult> {
  const root = absolutePath(call.path, cwd);
  const found = await searchAll(host.search, call, searchedFolders(root, cwd, otherFolders), signal);
  if (!found.ok) return { ok: false, text: `search_files: ${found.message}` };
  // The user has allowed a secret folder that is named; names alone are not secret.
  const isFiltered = call.target === "content" && !isSecret(root);
  const hits = isFiltered ? withoutSecrets(found.hits, isSecret) : found.hits;
  if (hits.length === 0) return { ok: true, text: NOTHING[call.target] };
  const rows = rowsOf(call, hits, cwd);
  const shown = rows.slice(call.offset, call.offset + call.limit);
  if (shown.length === 0) {
    return { ok: false, text: `search_files: there are ${rows.length} hits; offset ${call.offset} is past the end.` };
  }
  const end = call.offset + shown.length;
  const more = found.truncated ? " or more" : "";
  if (end < rows.length)
    shown.push(`[${call.offset + 1}-${end} of ${rows.length}${more}; continue with offset ${end}]`);
  else if (found.truncated) shown.push("[incomplete: the search stopped early; narrow the pattern, path or file_glob]");
  return { ok: true, text: shown.join("\n") };
}

/** Searches one folder after the other; the first failure ends the search. */
async function searchAll(
  search: HostSearch,
  { target, pattern, context: contextLines, file_glob: fileGlob, output_mode: mode }: Input,
  roots: readonly string[],
  signal: AbortSignal,
): Promise<SearchResult> {
  const query = { target, pattern, contextLines, hits: HITS[mode], ...(fileGlob !== undefined && { fileGlob }) };
  let all: SearchResult | undefined;
  for (const root of roots) {
    const found = await search.search({ ...query, root }, signal);
    if (!found.ok) return found;
    all = all?.ok
      ? { ...found, hits: [...all.hits, ...found.hits], truncated: all.truncated || found.truncated }
      : found;
  }
  return all ?? { ok: false, message: "there is no folder to search in" };
}

function withoutSecrets(hits: readonly SearchHit[], isSecret: (path: string) => boolean): readonly SearchHit[] {
  const secrets = new Set([...new Set(hits.map(({ path }) => path))].filter(isSecret));
  return hits.filter(({ path }) => !secrets.has(path));
}

function rowsOf({ target, output_mode: mode }: Input, hits: readonly SearchHit[], cwd: string): string[] {
  if (target === "files" || mode === "files_only") return hits.map(({ path }) => shownPath(path, cwd));
  if (mode === "count") return hits.map(({ path, count = 0 }) => `${shownPath(path, cwd)}: ${count}`);
  return hits.map((hit) => {
    const mark = hit.isContext ? "-" : ":";
    return `${shownPath(hit.path, cwd)}${mark}${hit.line}${mark} ${cutLine(hit)}`;
  });
}

/** The part of a long line that shows the match. */
function cutLine({ text, column = 0 }: SearchHit): string {
  if (text.length <= MAX_LINE_CHARS) return text;
  const start = Math.max(0, Math.min(column - MAX_LINE_CHARS / 3, text.length - MAX_LINE_CHARS));
  const end = start + MAX_LINE_CHARS;
  return `${start > 0 ? "…" : ""}${text.slice(start, end).toWellFormed()}${end < text.length ? "…" : ""}`;
}
