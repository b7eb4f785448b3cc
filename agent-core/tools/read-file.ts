import * as z from "zod";
import { counted } from "../platform/counted.ts";
import { nearFiles } from "./nearest-names.ts";
import { absolutePath, shortTitle, shownPath } from "./shown-path.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

const DEFAULT_LINES = 500;
const MAX_LINES = 2_000;
/** Longer lines are cut: a minified file must not fill the context. Characters. */
const MAX_LINE_CHARS = 2_000;

const input = z.object({
  path: z.string().min(1).describe("Relative to the working folder, or absolute"),
  offset: z.int().min(1).default(1).describe("First line, from 1"),
  limit: z.int().min(1).max(MAX_LINES).default(DEFAULT_LINES),
});

type Input = z.infer<typeof input>;

export const tool = defineTool({
  name: "read_file",
  toolset: "file",
  kind: "read",
  readOnly: true,
  need: "core",
  largeOutput: true,
  description: "Read a text file, with unsaved changes in the editor. Returns lines as NUMBER|TEXT.",
  input,
  title: ({ path, offset }) => shortTitle(offset > 1 ? `Read ${path} from line ${offset}` : `Read ${path}`),
  locations: ({ path, offset }, cwd) => [{ path: absolutePath(path, cwd), line: offset }],
  effect: ({ path }, cwd) => ({ kind: "read", paths: [absolutePath(path, cwd)] }),
  run,
});

async function run({ path, offset, limit }: Input, context: ToolContext): Promise<ToolResult> {
  const { host, cwd, signal, files } = context;
  const absolute = absolutePath(path, cwd);
  const read = await host.files.readText(absolute, signal, { first: offset, count: limit });
  if (!read.ok) {
    if (read.reason === "missing") files.forget(absolute); // the model knows now, and may create it
    const hint = read.reason === "missing" ? await nearFiles(absolute, cwd, host) : "";
    const list = read.reason === "directory" ? " List it with search_files and target files." : hint;
    return { ok: false, text: `read_file: ${read.message}${list}` };
  }
  files.note(absolute, read.text);
  if (read.text === "") return { ok: true, text: `${shownPath(absolute, cwd)} is empty.` };
  const lines = read.text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  if (offset > lines.length) {
    const has = `${path} has ${counted(lines.length, "line")}`;
    return {
      ok: false,
      text: `read_file: ${has}; offset ${offset} is past the end. Use an offset of ${lines.length} or less.`,
    };
  }
  const last = Math.min(lines.length, offset - 1 + limit);
  const shown = lines.slice(offset - 1, last).map((line, index) => `${offset + index}|${cutLine(line)}`);
  if (last < lines.length) shown.push(`[lines ${offset}-${last} of ${lines.length}; continue with offset ${last + 1}]`);
  if (read.doubt !== undefined) shown.push(`[${read.doubt}]`);
  if (read.encoding !== undefined) shown.push(`[read as ${read.encoding}; edits keep this encoding]`);
  return { ok: true, text: shown.join("\n") };
}

function cutLine(line: string): string {
  return line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS)}… [${line.length} characters]`;
}
