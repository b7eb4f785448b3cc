/** The tool `patch` in mode replace: a text of one file is replaced by another. */
import { deletedReason, type FileEdit, rebaseEdit, refusedEdit, stageEdit, staleReason } from "../file-edit.ts";
import { nearFiles } from "../nearest-names.ts";
import { absolutePath } from "../shown-path.ts";
import type { StagedCall, ToolContext } from "../tool.ts";
import { replaceExactly, replaceText } from "./replace.ts";

/** Texts of a call in mode replace, as the model wrote them. Absent ones count as empty. */
export type ReplaceCall = {
  readonly path?: string;
  readonly old_string?: string;
  readonly new_string?: string;
  readonly replace_all: boolean;
};

/** Works out the edit of one file, and refuses one whose place is not found. */
export async function stageReplace(call: ReplaceCall, context: ToolContext): Promise<StagedCall> {
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
