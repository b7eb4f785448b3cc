import * as z from "zod";
import { nearFiles } from "./missing-file.ts";
import { replaceText } from "./patch/replace.ts";
import { absolutePath, shortTitle } from "./resolve-path.ts";
import { stageEdit } from "./stage-edit.ts";
import { staleReason } from "./stale-text.ts";
import { defineTool, type StagedCall, type ToolContext } from "./tool.ts";

const input = z.object({
  mode: z.literal("replace").default("replace"),
  path: z.string().min(1).describe("File to change, absolute or relative to the working folder"),
  old_string: z.string().min(1).describe("Text to replace, as it stands in the file, without line numbers"),
  new_string: z.string().describe("Text to put there"),
  replace_all: z.boolean().default(false).describe("Replace every occurrence instead of exactly one"),
});

export const tool = defineTool({
  name: "patch",
  toolset: "file",
  kind: "edit",
  readOnly: false,
  description:
    "Change a file by replacing old_string with new_string. old_string must stand in the file exactly once, unless replace_all is set. Gives the diff.",
  input,
  title: ({ path }) => shortTitle(`Edit ${path}`),
  locations: ({ path }, cwd) => [{ path: absolutePath(path, cwd) }],
  effect: ({ path }, cwd) => ({ kind: "edit", paths: [absolutePath(path, cwd)] }),
  stage,
});

async function stage(call: z.infer<typeof input>, context: ToolContext): Promise<StagedCall> {
  const { host, cwd, signal } = context;
  const path = absolutePath(call.path, cwd);
  const read = await host.files.readText(path, signal);
  if (!read.ok) {
    const hint = read.reason === "missing" ? await nearFiles(path, cwd, host) : "";
    return { ok: false, text: `patch: ${read.message}${hint}` };
  }
  const stale = staleReason(path, read.text, context);
  if (stale !== undefined) return { ok: false, text: `patch: ${stale}` };
  const { old_string: oldString, new_string: newString, replace_all: replaceAll } = call;
  const replaced = replaceText(read.text, { oldString, newString, replaceAll });
  switch (replaced.kind) {
    case "refused":
      return { ok: false, text: `patch: ${call.path}: ${replaced.text}` };
    case "already":
      return { ok: true, diffs: [], run: () => Promise.resolve({ ok: true, text: replaced.text }) };
    case "changed":
      return noted(
        stageEdit({ tool: "patch", path, oldText: read.text, newText: replaced.newText }, context),
        replaced.how,
      );
  }
}

/** The model is told when its text does not stand in the file to the letter: it should read again what it goes on with. */
function noted(staged: StagedCall, how: string | undefined): StagedCall {
  if (!staged.ok || how === undefined) return staged;
  return {
    ...staged,
    async run() {
      const result = await staged.run();
      return result.ok ? { ...result, text: `old_string was found ${how}.\n${result.text}` } : result;
    },
  };
}
