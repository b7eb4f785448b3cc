/** Content search by ripgrep, read from its JSON lines. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import * as z from "zod";
import type { SearchHit, SearchRequest, SearchResult } from "./host.ts";
import { MAX_HITS, MAX_LINE_CHARS, MAX_SEARCHED_BYTES } from "./search-limits.ts";

/** Ripgrep's own exit code for "nothing found". */
const NOTHING_FOUND = 1;

const bytesOrText = z.union([z.object({ text: z.string() }), z.object({ bytes: z.string() })]);
const eventSchema = z.object({
  type: z.enum(["match", "context"]),
  data: z.object({ path: bytesOrText, lines: bytesOrText, line_number: z.number().nullable() }),
});

export async function ripgrepSearch(
  program: string,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<SearchResult> {
  const child = spawn(program, argumentsFor(request), { stdio: ["ignore", "pipe", "pipe"], signal });
  const ended = new Promise<{ code: number | null; error?: Error }>((resolve) => {
    child.once("error", (error) => resolve({ code: null, error }));
    child.once("close", (code) => resolve({ code }));
  });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(0, 2_000);
  });
  const hits: SearchHit[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const hit = hitOf(line);
    if (hit === undefined) continue;
    hits.push(hit);
    if (hits.length > MAX_HITS) child.kill();
  }
  const { code, error } = await ended;
  signal.throwIfAborted();
  if (error !== undefined) return { ok: false, message: `ripgrep could not be run: ${error.message}` };
  if (hits.length === 0 && code !== null && code > NOTHING_FOUND) {
    return { ok: false, message: `The search failed: ${complaint.trim() || `ripgrep ended with ${code}`}` };
  }
  return { ok: true, hits, truncated: hits.length > MAX_HITS, engine: "ripgrep" };
}

function argumentsFor({ pattern, root, fileGlob, contextLines = 0 }: SearchRequest): string[] {
  const options = ["--json", "--hidden", "--glob", "!.git", "--no-require-git", "--no-config"];
  options.push("--max-filesize", String(MAX_SEARCHED_BYTES));
  if (fileGlob !== undefined) options.push("--glob", fileGlob);
  if (contextLines > 0) options.push("--context", String(contextLines));
  // "-e" and "--" keep a pattern or a path that begins with a dash from being taken for an option.
  return [...options, "-e", pattern, "--", root];
}

function hitOf(line: string): SearchHit | undefined {
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
