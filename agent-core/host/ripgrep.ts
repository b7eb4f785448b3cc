/** Search by ripgrep: the text of files, or their names. */
import { spawn } from "node:child_process";
import { Readable } from "node:stream";
import * as z from "zod";
import type { SearchHit, SearchRequest, SearchResult } from "./host.ts";
import { anyCaseGlob, MAX_HITS, MAX_LINE_CHARS, MAX_SEARCHED_BYTES, nameMatcher } from "./search-rules.ts";

/** Both engines follow the workspace's own ignore files only, which are the same on every machine. */
const WALK = ["--no-config", "--hidden", "--glob", "!.git", "--no-require-git", "--no-ignore-global"];
const OPTIONS = [...WALK, "--no-ignore-exclude", "--no-messages"];
/** Exit code for bad arguments, such as a pattern that ripgrep cannot read, and for files that it cannot read. */
const FAILED = 2;
const MAX_COMPLAINT_CHARS = 2_000;

const bytesOrText = z.union([z.object({ text: z.string() }), z.object({ bytes: z.string() })]);
const eventSchema = z.object({
  type: z.enum(["match", "context"]),
  data: z.object({ path: bytesOrText, lines: bytesOrText, line_number: z.number().nullable() }),
});

/** Undefined when ripgrep cannot run, or refuses the request: the built-in search reads more patterns. */
export async function ripgrepSearch(
  program: string,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<SearchResult | undefined> {
  const hits: SearchHit[] = [];
  const read = request.target === "files" ? fileReader(request) : readEvent;
  const child = spawn(program, argumentsOf(request), { stdio: ["ignore", "pipe", "pipe"], signal });
  const exit = new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(FAILED));
    child.once("close", resolve);
  });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(0, MAX_COMPLAINT_CHARS);
  });
  const separator = request.target === "files" ? "\0" : "\n";
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

function argumentsOf({ target, pattern, root, fileGlob, contextLines = 0 }: SearchRequest): readonly string[] {
  // "-e" and "--" keep a pattern or a path that begins with a dash from being taken for an option.
  if (target === "files") return [...OPTIONS, "--files", "--null", "--", root];
  const options = [...OPTIONS, "--json", "--engine", "auto", "--max-filesize", String(MAX_SEARCHED_BYTES)];
  // A glob on its own would bring back ignored files; a type of files does not.
  if (fileGlob !== undefined) options.push("--type-add", `wanted:${anyCaseGlob(fileGlob)}`, "--type", "wanted");
  if (contextLines > 0) options.push("--context", String(contextLines));
  return [...options, "-e", pattern, "--", root];
}

async function* records(stdout: Readable, separator: string): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of stdout.setEncoding("utf8") as AsyncIterable<string>) {
    const complete = (rest + piece).split(separator);
    rest = complete.pop() ?? "";
    yield* complete;
  }
}

function fileReader({ pattern, root }: SearchRequest): (path: string) => SearchHit | undefined {
  const matches = nameMatcher(pattern, root);
  return (path) => (matches(path) ? { path, line: 0, text: "", isContext: false } : undefined);
}

/** Match or line of context from a line of ripgrep's JSON. */
function readEvent(line: string): SearchHit | undefined {
  const event = eventSchema.safeParse(JSON.parse(line)).data;
  if (event === undefined) return undefined;
  const { path, lines, line_number: lineNumber } = event.data;
  const text = textOf(lines).replace(/\r?\n$/, "");
  return {
    path: textOf(path),
    line: lineNumber ?? 0,
    text: text.slice(0, MAX_LINE_CHARS),
    isContext: event.type === "context",
  };
}

function textOf(value: z.infer<typeof bytesOrText>): string {
  return "text" in value ? value.text : Buffer.from(value.bytes, "base64").toString("utf8");
}
