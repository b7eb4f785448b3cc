/** Search without ripgrep: the same ignore rules, JavaScript's regular expressions, and a deadline. */
import { readFile, stat } from "node:fs/promises";
import { basename, relative, sep } from "node:path";
import { messageOf } from "../platform/errors.ts";
import { globPattern } from "./glob-pattern.ts";
import type { SearchHit, SearchRequest, SearchResult } from "./host.ts";
import { MAX_HITS, MAX_LINE_CHARS, MAX_SEARCHED_BYTES } from "./search-limits.ts";
import { walk } from "./walk.ts";

/** A pattern that backtracks without end must not hold the agent: time for one search. */
const DEADLINE_MS = 20_000;
/** The same look at the beginning of a file as git's. */
const BINARY_PROBE_BYTES = 8_000;

export async function builtInSearch(request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
  return request.target === "files" ? searchFiles(request, signal) : searchContent(request, signal);
}

async function searchFiles({ pattern, root }: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
  const matches = nameMatcher(pattern);
  const hits: SearchHit[] = [];
  for await (const path of walk(root, signal)) {
    if (!matches(relative(root, path).split(sep).join("/"))) continue;
    hits.push({ path, line: 0, text: "", isContext: false });
    if (hits.length > MAX_HITS) break;
  }
  return { ok: true, hits, truncated: hits.length > MAX_HITS, engine: "built-in" };
}

/** A pattern with glob characters is a glob; anything else is looked for in the path, letters of either case. */
function nameMatcher(pattern: string): (path: string) => boolean {
  if (/[*?[{]/.test(pattern)) {
    const glob = globPattern(pattern);
    return (path) => glob.test(pattern.includes("/") ? path : basename(path));
  }
  const wanted = pattern.toLowerCase();
  return (path) => path.toLowerCase().includes(wanted);
}

async function searchContent(request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
  const expression = compile(request.pattern);
  if (typeof expression === "string") return { ok: false, message: expression };
  const glob = request.fileGlob === undefined ? undefined : globPattern(request.fileGlob);
  const deadline = performance.now() + DEADLINE_MS;
  const hits: SearchHit[] = [];
  let truncated = false;
  for await (const path of filesOf(request.root, signal)) {
    if (glob !== undefined && !glob.test(basename(path))) continue;
    const text = await searchableText(path);
    if (text !== undefined) hits.push(...hitsIn(path, text, expression, request.contextLines ?? 0));
    truncated = hits.length > MAX_HITS || performance.now() > deadline;
    if (truncated) break;
  }
  return { ok: true, hits, truncated, engine: "built-in" };
}

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

async function* filesOf(root: string, signal: AbortSignal): AsyncGenerator<string> {
  if ((await stat(root)).isFile()) yield root;
  else yield* walk(root, signal);
}

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
