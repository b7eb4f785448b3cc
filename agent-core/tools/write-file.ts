import { diffArrays } from "diff";
import * as z from "zod";
import { deletedReason, stageEdit, staleReason } from "./file-edit.ts";
import { absolutePath, shortTitle } from "./resolve-path.ts";
import { defineTool, type StagedCall, type ToolContext } from "./tool.ts";

const input = z.object({
  path: z.string().min(1).describe("File to write, absolute or relative to the working folder"),
  content: z.string().describe("The whole new text"),
});

export const tool = defineTool({
  name: "write_file",
  toolset: "file",
  kind: "edit",
  readOnly: false,
  description: "Create a file and its folders, or replace its whole text. To change a part of a file, use patch.",
  input,
  title: ({ path }) => shortTitle(`Write ${path}`),
  locations: ({ path }, cwd) => [{ path: absolutePath(path, cwd) }],
  effect: ({ path }, cwd) => ({ kind: "edit", paths: [absolutePath(path, cwd)] }),
  stage,
});

async function stage({ path, content }: z.infer<typeof input>, context: ToolContext): Promise<StagedCall> {
  const { host, cwd, signal } = context;
  const absolute = absolutePath(path, cwd);
  if (isNumberedOutput(content)) {
    return refused(
      "the content looks like the output of read_file, with its line numbers. Write the text without them.",
    );
  }
  const read = await host.files.readText(absolute, signal);
  if (!read.ok) {
    if (read.reason !== "missing") return refused(read.message);
    const deleted = deletedReason(absolute, context);
    if (deleted !== undefined) return refused(`${deleted} Write it again if it should exist.`);
    return stageEdit({ tool: "write_file", path: absolute, oldText: null, newText: content }, context);
  }
  const stale = staleReason(absolute, read.text, context);
  if (stale !== undefined) return refused(stale);
  const newText = inFileEndings(read.text, content);
  if (newText === read.text) {
    const text = `${path} already has this text; nothing was written.`;
    return { ok: true, diffs: [], run: () => Promise.resolve({ ok: true, text }) };
  }
  return stageEdit({ tool: "write_file", path: absolute, oldText: read.text, newText }, context);
}

function refused(why: string): StagedCall {
  return { ok: false, text: `write_file: ${why}` };
}

function isNumberedOutput(content: string): boolean {
  const lines = content.split("\n").filter((line) => line !== "");
  return lines.length > 1 && lines.every((line, index) => line.startsWith(`${index + 1}|`));
}

/**
 * Comparing two large, different texts can take minutes: with more changed lines (half a second), every line gets a line
 * feed. A limit in time would make the result depend on the load of the machine.
 */
const MAX_CHANGED_LINES = 2_000;

/** New text in the file's line ends: lines that stay keep theirs, others get that of the line before them. */
function inFileEndings(present: string, content: string): string {
  if (!present.includes("\r\n")) return content;
  const plain = content.replace(/\r\n/g, "\n");
  if (!/(^|[^\r])\n/.test(present)) return plain.replace(/\n/g, "\r\n");
  return inMixedEndings(linesOf(present), linesOf(plain)) ?? plain;
}

/** Undefined when the texts are too different to compare. */
function inMixedEndings(present: readonly string[], content: readonly string[]): string | undefined {
  const changes = diffArrays([...present], [...content], {
    comparator: (one, other) => withoutBreak(one) === withoutBreak(other),
    maxEditLength: MAX_CHANGED_LINES,
  });
  if (changes === undefined) return undefined;
  const lines: string[] = [];
  let at = 0;
  for (const { added, removed, value } of changes) {
    if (added) {
      const end = breakOf(present[at - 1] ?? present[at] ?? "\n");
      lines.push(...value.map((line) => line.replace(/\n$/, end)));
    } else if (!removed) {
      lines.push(...present.slice(at, at + value.length));
    }
    if (!added) at += value.length;
  }
  const text = lines.join("");
  return content.at(-1)?.endsWith("\n") ? text : text.replace(/\r?\n$/, "");
}

function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function withoutBreak(line: string): string {
  return line.replace(/\r?\n$/, "");
}

function breakOf(line: string): string {
  return line.endsWith("\r\n") ? "\r\n" : "\n";
}
