import * as z from "zod";
import { deletedReason, type FileEdit, rebaseEdit, refusedEdit, stageEdit, staleReason } from "./file-edit.ts";
import { nearFiles } from "./nearest-names.ts";
import type { FileSection } from "./patch/v4a/parse-patch.ts";
import { candidatePaths, parsePatch } from "./patch/v4a/parse-patch.ts";
import { absolutePath, shortTitle } from "./shown-path.ts";
import { defineTool, type StagedCall, type ToolContext } from "./tool.ts";

const input = z
  .object({
    mode: z.enum(["replace", "patch"]).default("replace"),
    path: z.string().min(1).exactOptional(),
    old_string: z.string().min(1).exactOptional().describe("Exact text, without line numbers"),
    new_string: z.string().exactOptional(),
    replace_all: z.boolean().default(false),
    patch: z
      .string()
      .min(1)
      .exactOptional()
      .describe(
        "V4A: *** Begin Patch, for each file *** Add File: p (lines with +), *** Delete File: p or *** Update File: p (*** Move to: q), hunks of @@ context line, then lines with ' ', - or +; *** End Patch",
      ),
  })
  .superRefine((call, refinement) => {
    const needed = call.mode === "patch" ? (["patch"] as const) : (["path", "old_string", "new_string"] as const);
    for (const name of needed) {
      if (call[name] !== undefined) continue;
      refinement.addIssue({ code: "custom", path: [name], message: `is needed in mode ${call.mode}` });
    }
  });

type Call = z.infer<typeof input>;
type Replacing = typeof import("./patch/replace.ts");

export const tool = defineTool({
  name: "patch",
  toolset: "file",
  kind: "edit",
  readOnly: false,
  need: "core",
  description:
    "Change files. Mode replace: new_string replaces old_string, which is in the file once unless replace_all is set. Mode patch: changes of several files, all or nothing.",
  input,
  title: (call) => shortTitle(titleOf(call)),
  locations: (call, cwd) => pathsOf(call, cwd).map((path) => ({ path })),
  effect: (call, cwd) => ({ kind: "edit", paths: pathsOf(call, cwd) }),
  // Loaded with the first edit: no start needs its code.
  async stage(call, context) {
    if (call.mode === "replace") return stageReplace(call, context, await import("./patch/replace.ts"));
    const { stagePatch } = await import("./patch/v4a/stage-patch.ts");
    return stagePatch(call.patch ?? "", context);
  },
});

function titleOf(call: Call): string {
  if (call.mode === "replace") return `Edit ${call.path}`;
  const sections = sectionsOf(call);
  const [first] = sections;
  if (first === undefined) return "Edit files";
  const verb = { add: "Create", update: "Edit", delete: "Delete" }[first.kind];
  return sections.length === 1 ? `${verb} ${first.path}` : `${verb} ${first.path} and ${sections.length - 1} more`;
}

function pathsOf(call: Call, cwd: string): readonly string[] {
  if (call.mode === "replace") return [absolutePath(call.path ?? "", cwd)];
  const paths = sectionsOf(call).flatMap((section) => {
    const moveTo = section.kind === "update" ? section.moveTo : undefined;
    return [...candidatePaths(section.path, cwd), ...(moveTo === undefined ? [] : [absolutePath(moveTo, cwd)])];
  });
  return [...new Set(paths)];
}

/** Empty for a patch that cannot be read, which is refused before anything is done. */
function sectionsOf({ patch = "" }: Call): readonly FileSection[] {
  const parsed = parsePatch(patch);
  return parsed.ok ? parsed.sections : [];
}

async function stageReplace(
  call: Call,
  context: ToolContext,
  { replaceText, replaceExactly }: Replacing,
): Promise<StagedCall> {
  const { path: written = "", old_string: oldString = "", new_string: newString = "", replace_all: replaceAll } = call;
  const { host, cwd, signal } = context;
  const path = absolutePath(written, cwd);
  const read = await host.files.readText(path, signal);
  if (!read.ok) {
    const isMissing = read.reason === "missing";
    const why = (isMissing && deletedReason(path, context)) || read.message;
    return { ok: false, text: `patch: ${why}${isMissing ? await nearFiles(path, cwd, host) : ""}` };
  }
  const request = { oldString, newString, replaceAll };
  const stale = staleReason(path, read.text, context);
  const edit: OpenEdit = { tool: "patch", path, exactly: (text) => replaceExactly(text, request) };
  if (stale !== undefined) return stageRebased(edit, read.text, { context, stale });
  const replaced = replaceText(read.text, request);
  switch (replaced.kind) {
    case "refused":
      return refusedEdit(path, `${written}: ${replaced.text}`, context);
    case "already":
      return { ok: true, diffs: [], run: () => Promise.resolve({ ok: true, text: replaced.text }) };
    case "changed":
      return noted(stageEdit({ ...edit, oldText: read.text, newText: replaced.newText }, context), replaced.how);
  }
}

type OpenEdit = Required<Pick<FileEdit, "tool" | "path" | "exactly">>;

/** The file has changed since the model read it: only an exact match, unique in both texts, is applied. */
function stageRebased(
  edit: OpenEdit,
  present: string,
  { context, stale }: { readonly context: ToolContext; readonly stale: string },
): StagedCall {
  const base = context.files.recall(edit.path) ?? present;
  const newText = rebaseEdit(edit, { base, present });
  if (newText === undefined) return { ok: false, text: `patch: ${stale}` };
  return stageEdit({ ...edit, base, oldText: present, newText }, context);
}

/** Adds how old_string was found, when the match was not exact: the model should know the file's real text. */
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
