/** Search without ripgrep: the same ignore rules, JavaScript's regular expressions, and a time limit. */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../platform/errors.ts";
import type { SearchHit, SearchRequest, SearchResult } from "./host.ts";
import {
  type FolderRules,
  globPattern,
  ignoreFilesIn,
  isIgnored,
  MAX_HITS,
  MAX_LINE_CHARS,
  MAX_SEARCHED_BYTES,
  nameMatcher,
  rulesFrom,
} from "./search-rules.ts";

/** Time for one search: a pattern that backtracks without end must not hold the agent. Milliseconds. */
const TIME_LIMIT_MS = 20_000;
/** Git looks for a NUL in as much of a file to call it binary. */
const BINARY_PROBE_BYTES = 8_000;

export async function builtInSearch(request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
  return request.target === "files" ? searchFiles(request, signal) : searchContent(request, signal);
}

async function searchFiles({ pattern, root }: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
  const matches = nameMatcher(pattern, root);
  const hits: SearchHit[] = [];
  for await (const path of filesOf(root, signal)) {
    if (!matches(path)) continue;
    hits.push({ path, line: 0, text: "", isContext: false });
    if (hits.length > MAX_HITS) break;
  }
  return { ok: true, hits, truncated: hits.length > MAX_HITS, engine: "built-in" };
}

async function searchContent(request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
  const expression = compile(request.pattern);
  if (typeof expression === "string") return { ok: false, message: expression };
  const glob = request.fileGlob === undefined ? undefined : globPattern(request.fileGlob);
  const end = performance.now() + TIME_LIMIT_MS;
  const hits: SearchHit[] = [];
  let truncated = false;
  for await (const path of filesOf(request.root, signal)) {
    if (glob !== undefined && !glob.test(basename(path))) continue;
    const text = await searchableText(path);
    if (text !== undefined) hits.push(...hitsIn(path, text, expression, request.contextLines ?? 0));
    truncated = hits.length > MAX_HITS || performance.now() > end;
    if (truncated) break;
  }
  return { ok: true, hits, truncated, engine: "built-in" };
}

/** Regular expression, or the reason why the pattern is not valid. */
function compile(pattern: string): RegExp | string {
  try {
    return new RegExp(pattern, "u");
  } catch {
    try {
      return new RegExp(pattern); // legal without the stricter Unicode rules, as `\-` is
    } catch (error) {
      return `The pattern is not a regular expression: ${messageOf(error)}`;
    }
  }
}

/** Regular files in order of their paths, without ignored ones. Symbolic links and unreadable folders are skipped. */
async function* filesOf(root: string, signal: AbortSignal): AsyncGenerator<string> {
  if ((await stat(root)).isFile()) yield root;
  else yield* walk(root, await rulesAbove(root), signal);
}

async function* walk(folder: string, above: readonly FolderRules[], signal: AbortSignal): AsyncGenerator<string> {
  signal.throwIfAborted();
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.map(({ name }) => name);
  const rules = [...above, ...(await rulesOf(folder, names))];
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (isIgnored(path, entry.isDirectory(), rules)) continue;
    if (entry.isDirectory()) yield* walk(path, rules, signal);
    else if (entry.isFile()) yield path;
  }
}

/** Rules of the folders above `root`, from the top down. An ignored folder that is searched by name has none. */
async function rulesAbove(root: string): Promise<readonly FolderRules[]> {
  const folders: string[] = [];
  for (let folder = dirname(root); folder !== folders[0]; folder = dirname(folder)) folders.unshift(folder);
  const rules = (
    await Promise.all(folders.map(async (folder) => rulesOf(folder, await readdir(folder).catch(() => []))))
  ).flat();
  return isIgnored(root, true, rules) ? [] : rules;
}

/** Empty for a folder without ignore files. */
async function rulesOf(folder: string, names: readonly string[]): Promise<readonly FolderRules[]> {
  const found = ignoreFilesIn(folder, names);
  if (found.length === 0) return [];
  return [rulesFrom(folder, await Promise.all(found.map((path) => readFile(path, "utf8").catch(() => ""))))];
}

/** Undefined for a file that is too large, unreadable or binary. */
async function searchableText(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || found.size > MAX_SEARCHED_BYTES) return undefined;
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes === undefined || bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) return undefined;
  return bytes.toString("utf8");
}

function hitsIn(path: string, text: string, expression: RegExp, context: number): readonly SearchHit[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const matching = new Set<number>();
  for (const [index, line] of lines.entries()) {
    if (line.length <= MAX_LINE_CHARS && expression.test(line.replace(/\r$/, ""))) matching.add(index);
  }
  const shown = new Set<number>();
  for (const index of matching) {
    const last = Math.min(lines.length - 1, index + context);
    for (let near = Math.max(0, index - context); near <= last; near += 1) shown.add(near);
  }
  return [...shown]
    .sort((first, second) => first - second)
    .map((index) => ({
      path,
      line: index + 1,
      text: (lines[index] ?? "").replace(/\r$/, "").slice(0, MAX_LINE_CHARS),
      isContext: !matching.has(index),
    }));
}
