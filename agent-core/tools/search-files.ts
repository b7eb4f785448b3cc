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
  content: "Nothing found. Not searched: ignored files, binary files, links, and files over 10 MB.",
  files: "Nothing found. Not searched: ignored files and links.",
};
const HITS = { content: "lines", count: "counts", files_only: "files" } as const;

async function run(written: Input, context: ToolContext): Promise<ToolResult> {
  const { cwd, otherFolders = [], isSecret } = context;
  const call = withoutRepeatedPath(await withoutGlobPath(written, context));
  const root = absolutePath(call.path, cwd);
  const roots = searchedFolders(root, cwd, otherFolders);
  const { found, note, target = call.target } = await searchReadings(call, roots, context);
  if (!found.ok) return { ok: false, text: `search_files: ${found.message}` };
  // The user has allowed a secret folder that is named; names alone are not secret.
  const isFiltered = call.target === "content" && !isSecret(root);
  const paths = isFiltered ? new Set(found.hits.map(({ path }) => path)) : [];
  const secrets = new Set([...paths].filter(isSecret));
  const hits = found.hits.filter(({ path }) => !secrets.has(path));
  if (hits.length === 0) return { ok: true, text: NOTHING[call.target] };
  const rows = rowsOf({ ...call, target }, hits, cwd);
  const shown = rows.slice(call.offset, call.offset + call.limit);
  if (shown.length === 0) {
    return { ok: false, text: `search_files: there are ${rows.length} hits; offset ${call.offset} is past the end.` };
  }
  const end = call.offset + shown.length;
  const more = found.truncated ? " or more" : "";
  if (end < rows.length)
    shown.push(`[${call.offset + 1}-${end} of ${rows.length}${more}; continue with offset ${end}]`);
  else if (found.truncated) shown.push("[incomplete: the search stopped early; narrow the pattern, path or file_glob]");
  if (note !== undefined) shown.push(note);
  return { ok: true, text: shown.join("\n") };
}

/** The first reading of the pattern with hits, else the pattern as it is written. */
async function searchReadings(call: Input, roots: readonly string[], { host, signal }: ToolContext) {
  const first = await searchAll(host.search, { ...call, isPlain: false }, roots, signal);
  const isNothing = !first.ok || first.hits.length === 0;
  for (const { pattern, isPlain = false, note } of isNothing && call.target === "content"
    ? readingsOf(call.pattern)
    : []) {
    const found = await searchAll(host.search, { ...call, pattern, isPlain }, roots, signal);
    if (found.ok && found.hits.length > 0) return { found, note };
  }
  const named = first.ok
    ? first
    : await searchAll(host.search, { ...call, target: "files", isPlain: false }, roots, signal);
  const isGlob = !first.ok && named.ok && named.hits.length > 0;
  if (isGlob)
    return { found: named, note: "[files by name: the pattern is no regular expression]", target: "files" as const };
  return { found: first, note: undefined };
}

type Reading = { readonly pattern: string; readonly isPlain?: boolean; readonly note: string };

/**
 * Other readings of a pattern that matches nothing. A model writes code such as `foo(` or `map[string]any{}` where an expression is
 * meant to stand, `a\\|b` and `\\<word\\>` as grep reads them, and quotes or slashes around the pattern.
 */
function readingsOf(pattern: string): readonly Reading[] {
  const note = "[found as plain text; as a regular expression the pattern matches nothing]";
  const plain = /[\\^$.|?*+()[\]{}]/.test(pattern) ? [{ pattern, isPlain: true, note }] : [];
  // A letter with an accent may be one character or two.
  const composed = (["NFC", "NFD"] as const).map((form) => pattern.normalize(form)).filter((form) => form !== pattern);
  const accents = composed.map((form) => ({ pattern: form, note: "[these write accents in another form of Unicode]" }));
  const { text = pattern, flags = "" } =
    /^(?<mark>["'`/])(?<text>.+)\k<mark>(?<flags>i?)$/s.exec(pattern)?.groups ?? {};
  const bare = flags === "" ? text : `(?i)${text}`;
  const meant = [/\\[|<>]/.test(bare) ? asBasic(bare) : bare, bare.replaceAll("\\\\", "\\"), typographic(bare)];
  const others = [...new Set(meant)].filter((each) => each !== pattern);
  const named = others.map((each) => ({
    pattern: each,
    note: `[these match ${each}; the pattern as written matches nothing]`,
  }));
  return [...accents, ...plain, ...named];
}

/** Each quote, dash or blank in all its forms. A pattern with a class stays as it is. */
function typographic(pattern: string): string {
  return /[[\]]/.test(pattern) ? pattern : pattern.replaceAll(/['"\- ]/g, (each) => `[${each}${FORMS[each]}]`);
}

const FORMS: Readonly<Record<string, string>> = { "'": "‘’", '"': "“”„", "-": "–—‑−", " ": "\u00a0\u202f\u3000" };

/** A basic expression of grep, where the escaped operators are the ones that count. */
function asBasic(pattern: string): string {
  const swapped = pattern.replaceAll(/\\?[|(){}+?]/g, (token) => (token.length === 2 ? token.slice(1) : `\\${token}`));
  return swapped.replaceAll(/\\[<>]/g, "\\b");
}

/** A glob may repeat the path. */
function withoutRepeatedPath(call: Input): Input {
  const { path, file_glob: glob } = call;
  const folder = `${path.replace(/\/$/, "")}/`;
  if (glob === path) return { ...call, file_glob: undefined };
  return glob?.startsWith(folder) ? { ...call, file_glob: glob.slice(folder.length) } : call;
}

/** A path with stars is meant as `file_glob`, and a file that is named needs none. */
async function withoutGlobPath(call: Input, { host, cwd }: ToolContext): Promise<Input> {
  const { path, file_glob: glob, target } = call;
  const present = await host.files.stat(absolutePath(path, cwd));
  if (present?.kind === "file") return { ...call, file_glob: undefined };
  if (!/[*?{]/.test(path) || present !== undefined) return call;
  if (target === "content") return { ...call, path: ".", file_glob: glob === undefined ? path : `${path}/**/${glob}` };
  return { ...call, path: ".", pattern: `${path.replace(/\/$/, "")}/**/${call.pattern}` };
}

/** Searches one folder after the other; the first failure ends the search. */
async function searchAll(
  search: HostSearch,
  {
    target,
    pattern,
    context: contextLines,
    file_glob: fileGlob,
    output_mode: mode,
    isPlain,
  }: Input & { isPlain: boolean },
  roots: readonly string[],
  signal: AbortSignal,
): Promise<SearchResult> {
  const glob = fileGlob === undefined ? {} : { fileGlob };
  const query = { target, pattern, isPlain, contextLines, hits: HITS[mode], ...glob };
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
