/** Search on this machine: by ripgrep, or built in with the same ignore rules and hits. */
import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import * as z from "zod";
import { escapePattern } from "../platform/escape-pattern.ts";
import { findProgram } from "../platform/find-program.ts";
import { readText } from "../platform/text-file.ts";
import { decodeAny } from "./decode-file.ts";
import type { HostSearch, SearchHit, SearchRequest, SearchResult } from "./host.ts";
import {
  anyCaseGlob,
  commonPattern,
  compile,
  cutAround,
  type FolderRules,
  globMatcher,
  ignoreFilesIn,
  ignoresItself,
  isIgnored,
  MAX_HITS,
  MAX_SEARCHED_BYTES,
  nameMatcher,
  rulesFrom,
} from "./search-rules.ts";

export type NodeSearchOptions = {
  /** Absolute path of ripgrep; null for the built-in search; default: the first `rg` on PATH. */
  readonly ripgrep?: string | null;
};

export function nodeSearch({ ripgrep }: NodeSearchOptions = {}): HostSearch {
  let program = ripgrep;
  return {
    async search(written, signal) {
      signal.throwIfAborted();
      const request = inCommonWords(written);
      const root = await stat(request.root).catch(() => undefined);
      if (root === undefined) return { ok: false, message: `${request.root} does not exist.` };
      if (program === undefined) program = findProgram("rg") ?? null;
      const byRipgrep = program === null ? undefined : await completeSearch(program, request, signal);
      const builtIn = request.target === "files" ? searchFiles : searchContent;
      const result = byRipgrep ?? (await builtIn(request, filesOf(request.root, signal)));
      return result.ok ? inOrder(request, result) : result;
    },
  };
}

function inCommonWords(request: SearchRequest): SearchRequest {
  const { target, pattern, isPlain = false } = request;
  if (target === "files" || (isPlain && !pattern.includes("\n"))) return request;
  return { ...request, isPlain: false, pattern: commonPattern(isPlain ? escapePattern(pattern) : pattern) };
}

function inOrder({ target }: SearchRequest, result: Extract<SearchResult, { ok: true }>): SearchResult {
  const byPlace = (first: SearchHit, second: SearchHit): number =>
    comparePaths(first.path, second.path) || first.line - second.line;
  const hits = result.hits.toSorted(target === "files" ? (one, other) => comparePaths(one.path, other.path) : byPlace);
  return { ...result, hits: hits.slice(0, MAX_HITS), truncated: result.truncated || hits.length > MAX_HITS };
}

function comparePaths(first: string, second: string): number {
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

/** Both engines follow the workspace's own ignore files only, which are the same on every machine. */
const WALK = ["--no-config", "--hidden", "--glob", "!.git", "--no-require-git", "--no-ignore-global"];
const OPTIONS = [...WALK, "--no-ignore-exclude", "--no-messages"];
/** Exit code for bad arguments, such as a pattern that ripgrep cannot read, and for files that it cannot read. */
const FAILED = 2;
const MAX_COMPLAINT_CHARS = 2_000;

const bytesOrText = z.union([z.object({ text: z.string() }), z.object({ bytes: z.string() })]);
const eventSchema = z.object({
  type: z.enum(["match", "context"]),
  data: z.object({
    path: bytesOrText,
    lines: bytesOrText,
    line_number: z.number().nullable(),
    submatches: z.array(z.object({ start: z.number() })),
  }),
});

/** Threads find hits in any order, so a search that stops early runs again in the order of paths. */
async function completeSearch(
  program: string,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<SearchResult | undefined> {
  const first = await ripgrepSearch(program, request, signal, []);
  const found =
    first?.ok && first.truncated ? await ripgrepSearch(program, request, signal, ["--sort", "path"]) : first;
  if (!found?.ok || found.truncated || request.target === "files") return found;
  const { apart, isCut } = await filesApart(program, request, found.hits, signal);
  if (apart.size === 0) return found;
  const others = await searchContent(request, apart);
  if (!others.ok) return found;
  return {
    ...found,
    truncated: isCut || others.truncated,
    hits: [...found.hits.filter(({ path }) => !apart.has(path)), ...others.hits],
  };
}

/** Bytes of a text in one byte a character; a binary file has others. */
const TEXT = String.raw`[^\x00-\x08\x0e-\x1a\x1c-\x1f]*`;
/** Bytes of UTF-16 and UTF-32, which ripgrep takes for a binary file, and of a text whose lines end with CR. */
const WIDE = String.raw`(?-u)(?:[\t\n\r -~]\x00(?:\x00\x00)?){4}|\A[^\x00-\x08\x0e-\x1a\x1c-\x1f\n]*\r[^\r\n]`;
/** Those and texts with bytes that are no UTF-8, or that change the characters behind them. */
const OTHER = String.raw`${WIDE}|\A${TEXT}(?:[\xc2-\xf4][\x00-\x7f]|(?:^|[\x00-\x7f])[\x80-\xc1]|\x1b\$)${TEXT}\z`;
/** Other line ends within a hit, and bytes that are no UTF-8. */
const APART = /\r(?!\n|$)|\ufffd/;

/** Files in encodings and with line ends that ripgrep does not know. An ASCII text in most of them it finds itself. */
async function filesApart(
  program: string,
  request: SearchRequest,
  hits: readonly SearchHit[],
  signal: AbortSignal,
): Promise<{ readonly apart: ReadonlySet<string>; readonly isCut: boolean }> {
  const apart = hits.filter(({ text }) => APART.test(text)).map(({ path }) => path);
  const pattern = /\P{ASCII}/u.test(request.pattern) ? OTHER : WIDE;
  if (hits.length > 0 && pattern === WIDE) return { apart: new Set(apart), isCut: false };
  const query = { ...request, pattern, isPlain: false, hits: "files" } as const;
  const found = await ripgrepSearch(program, query, signal, ["--text", "--encoding", "none"]);
  const { hits: others, truncated: isCut } = found?.ok ? found : { hits: [], truncated: false };
  return { apart: new Set([...apart, ...others.map(({ path }) => path)]), isCut };
}

/** Undefined when ripgrep cannot run, or refuses the request: the built-in search reads more patterns. */
async function ripgrepSearch(
  program: string,
  request: SearchRequest,
  signal: AbortSignal,
  order: readonly string[],
): Promise<SearchResult | undefined> {
  const hits: SearchHit[] = [];
  const { read, separator } = readerOf(request);
  const above = await rulesAbove(request.root);
  const free = above === undefined ? ["--no-ignore"] : [above.length === 0 ? "--no-ignore-parent" : "--ignore-parent"];
  const child = spawn(program, [...order, ...free, ...argumentsOf(request)], {
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
    signal,
  });
  const exit = new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(FAILED));
    child.once("close", resolve);
  });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(0, MAX_COMPLAINT_CHARS);
  });
  for await (const record of records(child.pid === undefined ? Readable.from([]) : child.stdout, separator)) {
    const hit = read(record);
    if (hit !== undefined) hits.push(hit);
    if (hits.length > MAX_HITS) child.kill();
  }
  const code = await exit;
  signal.throwIfAborted();
  const hasRefused = code === FAILED && hits.length === 0 && (complaint !== "" || child.pid === undefined);
  return hasRefused ? undefined : { ok: true, hits, truncated: hits.length > MAX_HITS, engine: "ripgrep" };
}

const HIT_OPTIONS = {
  lines: ["--json"],
  counts: ["--count-matches", "--with-filename", "--null"],
  files: ["--files-with-matches", "--null"],
};

function argumentsOf(request: SearchRequest): readonly string[] {
  const { target, pattern, root, fileGlob = "", contextLines = 0, hits = "lines", isPlain = false } = request;
  // "-e" and "--" keep a pattern or a path that begins with a dash from being taken for an option.
  if (target === "files") return [...OPTIONS, "--files", "--null", "--", root];
  const options = [
    ...OPTIONS,
    ...HIT_OPTIONS[hits],
    "--crlf",
    ...(isPlain ? ["--fixed-strings"] : ["--engine", "auto"]),
  ];
  if (SPANS_LINES.test(pattern)) options.push("--multiline");
  if (!isNamedFile(request)) options.push("--max-filesize", String(MAX_SEARCHED_BYTES));
  // A glob on its own would bring back ignored files; a type of files does not.
  const glob = anyCaseGlob(fileGlob) ?? "";
  if (glob !== "") options.push("--type-add", `wanted:${glob}`, "--type", "wanted");
  if (contextLines > 0) options.push("--context", String(contextLines));
  return [...options, "-e", pattern, "--", root];
}

/** A pattern for text of several lines. */
const SPANS_LINES = /\n|\\n|\[\\s\\S\]|\(\?s\)/;

async function* records(stdout: Readable, separator: string): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of stdout.setEncoding("utf8") as AsyncIterable<string>) {
    const complete = (rest + piece).split(separator);
    rest = complete.pop() ?? "";
    yield* complete;
  }
}

const READERS = { lines: readEvent, counts: readCount, files: fileHit };

function readerOf(request: SearchRequest): {
  readonly read: (record: string) => SearchHit | undefined;
  readonly separator: string;
} {
  const { target, hits = "lines" } = request;
  const matches = matcherOf(request);
  const read = target === "files" ? fileHit : READERS[hits];
  const separator = read === fileHit ? "\0" : "\n";
  return {
    separator,
    read(record) {
      const hit = read(record);
      return hit !== undefined && matches(hit.path) ? hit : undefined;
    },
  };
}

function matcherOf({ target, pattern, root, fileGlob }: SearchRequest): (path: string) => boolean {
  if (target === "files") return nameMatcher(pattern, root);
  return fileGlob === undefined ? () => true : globMatcher(fileGlob, root);
}

function fileHit(path: string): SearchHit {
  return { path, line: 0, text: "", isContext: false };
}

function readCount(record: string): SearchHit {
  const [path = "", count] = record.split("\0");
  return { ...fileHit(path), count: Number(count) };
}

/** True when the request names a file: limits for unasked files do not hold. */
function isNamedFile({ root }: SearchRequest): boolean {
  return statSync(root, { throwIfNoEntry: false })?.isFile() === true;
}

/** Match or line of context from a line of ripgrep's JSON. */
function readEvent(line: string): SearchHit | undefined {
  const event = eventSchema.safeParse(JSON.parse(line)).data;
  if (event === undefined) return undefined;
  const { path, lines, line_number: lineNumber, submatches } = event.data;
  const written = textOf(lines);
  const start = submatches[0]?.start ?? 0;
  const column = Buffer.from(written).subarray(0, start).toString().length;
  const cut = cutAround(written.replace(/\r?\n$/, ""), column);
  return { path: textOf(path), line: lineNumber ?? 0, ...cut, isContext: event.type === "context" };
}

function textOf(value: z.infer<typeof bytesOrText>): string {
  return "text" in value ? value.text : Buffer.from(value.bytes, "base64").toString();
}

/** Time for one search: a pattern that backtracks without end must not hold the agent. Milliseconds. */
const TIME_LIMIT_MS = 20_000;

type Paths = AsyncIterable<string> | Iterable<string>;

async function searchFiles(request: SearchRequest, paths: Paths): Promise<SearchResult> {
  const matches = matcherOf(request);
  const hits: SearchHit[] = [];
  for await (const path of paths) {
    if (!matches(path)) continue;
    hits.push(fileHit(path));
    if (hits.length > MAX_HITS) break;
  }
  return { ok: true, hits, truncated: hits.length > MAX_HITS, engine: "built-in" };
}

async function searchContent(request: SearchRequest, paths: Paths): Promise<SearchResult> {
  const expression = compile(request);
  if (typeof expression === "string") return { ok: false, message: expression };
  const matches = matcherOf(request);
  const maxBytes = isNamedFile(request) ? Number.POSITIVE_INFINITY : MAX_SEARCHED_BYTES;
  const end = performance.now() + TIME_LIMIT_MS;
  const hits: SearchHit[] = [];
  let truncated = false;
  for await (const path of paths) {
    if (!matches(path)) continue;
    const text = await searchableText(path, maxBytes);
    if (text !== undefined) hits.push(...hitsIn(path, text, expression, request));
    truncated = hits.length > MAX_HITS || performance.now() > end;
    if (truncated) break;
  }
  return { ok: true, hits, truncated, engine: "built-in" };
}

/** Regular files in order of their paths, without ignored ones. Symbolic links and unreadable folders are skipped. */
async function* filesOf(root: string, signal: AbortSignal): AsyncGenerator<string> {
  if ((await stat(root)).isFile()) yield root;
  else yield* walk(root, await rulesAbove(root), signal);
}

/** Undefined where no rules hold. */
type Rules = readonly FolderRules[] | undefined;

async function* walk(folder: string, above: Rules, signal: AbortSignal): AsyncGenerator<string> {
  signal.throwIfAborted();
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.map(({ name }) => name);
  const rules = above && [...above, ...(await rulesOf(folder, names))];
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (isIgnored(path, entry.isDirectory(), rules ?? [])) continue;
    if (entry.isDirectory()) yield* walk(path, rules, signal);
    else if (entry.isFile()) yield path;
  }
}

/** Rules of the folders above `root`, from the top down. An ignored folder that is searched by name has none. */
async function rulesAbove(root: string): Promise<Rules> {
  if (ignoresItself(root)) return undefined;
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
  return [rulesFrom(folder, await Promise.all(found.map((path) => readText(path).catch(() => ""))))];
}

/** Undefined for a file that is too large, unreadable or binary. */
async function searchableText(path: string, maxBytes: number): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || found.size > maxBytes) return undefined;
  const bytes = await readFile(path).catch(() => undefined);
  const decoded = bytes && (await decodeAny(path, bytes));
  return decoded?.ok ? decoded.text : undefined;
}

function hitsIn(
  path: string,
  text: string,
  expression: RegExp,
  { contextLines = 0, hits = "lines", pattern }: SearchRequest,
): readonly SearchHit[] {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  if (lines.at(-1) === "") lines.pop();
  const columns = SPANS_LINES.test(pattern) ? spannedLines(text, expression) : matchedLines(lines, expression);
  if (columns.size === 0) return [];
  if (hits !== "lines") {
    const places = [...columns.keys()].map((index) => [...(lines[index] ?? "").matchAll(expression)].length || 1);
    return [{ ...fileHit(path), count: places.reduce((sum, count) => sum + count, 0) }];
  }
  const shown = new Set<number>();
  for (const index of columns.keys()) {
    const last = Math.min(lines.length - 1, index + contextLines);
    for (let near = Math.max(0, index - contextLines); near <= last; near += 1) shown.add(near);
  }
  return [...shown]
    .sort((first, second) => first - second)
    .map((index) => {
      const cut = cutAround(lines[index] ?? "", columns.get(index) ?? 0);
      return { path, line: index + 1, ...cut, isContext: !columns.has(index) };
    });
}

/** Lines with a match, and the column of the first one in each. */
function matchedLines(lines: readonly string[], expression: RegExp): ReadonlyMap<number, number> {
  const columns = new Map<number, number>();
  for (const [index, line] of lines.entries()) {
    const column = line.search(expression);
    if (column >= 0) columns.set(index, column);
  }
  return columns;
}

/** As `matchedLines`, for matches of several lines, all of which are shown. */
function spannedLines(text: string, expression: RegExp): ReadonlyMap<number, number> {
  const columns = new Map<number, number>();
  const plain = text.replaceAll("\r\n", "\n");
  for (const { index, 0: matched } of plain.matchAll(expression)) {
    const before = plain.slice(0, index).split("\n");
    for (const [offset] of matched.replace(/\n$/, "").split("\n").entries())
      columns.set(before.length - 1 + offset, offset === 0 ? (before.at(-1)?.length ?? 0) : 0);
  }
  return columns;
}
