import * as z from "zod";
import { withoutMark } from "../host/decode-file.ts";
import { absolutePath, shortTitle } from "./shown-path.ts";
import { defineTool, refusal, type StagedCall, type ToolContext } from "./tool.ts";

const input = z.object({
  path: z.string().min(1),
  content: z.string(),
});

export const tool = defineTool({
  name: "write_file",
  toolset: "file",
  kind: "edit",
  readOnly: false,
  need: "core",
  description: "Create a file with its folders, or replace its whole text.",
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
    return refusal(
      "write_file",
      "the content looks like the output of read_file, with its line numbers. Write the text without them.",
    );
  }
  // Loaded with the first edit: no start needs their code.
  const { deletedReason, stageEdit, staleReason } = await import("./file-edit.ts");
  const { inBreaksOf } = await import("./patch/line-breaks.ts");
  const read = await host.files.readText(absolute, signal);
  if (!read.ok) {
    if (read.reason !== "missing") return refusal("write_file", read.message);
    const deleted = deletedReason(absolute, context);
    if (deleted !== undefined) return refusal("write_file", `${deleted} Write it again if it should exist.`);
    return stageEdit({ tool: "write_file", path: absolute, oldText: null, newText: content }, context);
  }
  const stale = staleReason(absolute, read.text, context);
  if (stale !== undefined) return refusal("write_file", stale);
  const newText = inBreaksOf(read.text, withoutMark(content));
  if (newText === read.text) {
    const text = `${path} already has this text; nothing was written.`;
    return { ok: true, diffs: [], run: () => Promise.resolve({ ok: true, text }) };
  }
  return stageEdit({ tool: "write_file", path: absolute, oldText: read.text, newText }, context);
}

function isNumberedOutput(content: string): boolean {
  const lines = content.split("\n").filter((line) => line !== "");
  return lines.length > 1 && lines.every((line, index) => line.startsWith(`${index + 1}|`));
}
