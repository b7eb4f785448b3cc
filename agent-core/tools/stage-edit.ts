/** The last steps of every edit: what it would do, then the write, guarded by the text it was worked out from. */
import type { ExpectedText } from "../host/host.ts";
import { type Edit, unifiedDiff } from "./edit-result.ts";
import { shownPath } from "./resolve-path.ts";
import { reviewedResult } from "./reviewed-edit.ts";
import type { StagedCall, ToolContext } from "./tool.ts";

export function stageEdit(edit: Edit, context: ToolContext): StagedCall {
  const { tool, path, oldText, newText } = edit;
  const { host, cwd, signal, files } = context;
  const diffs = [{ path, oldText, newText }];
  const expected: ExpectedText = oldText === null ? { kind: "absent" } : { kind: "text", text: oldText };
  return {
    ok: true,
    diffs,
    async run() {
      const written = await host.files.writeText(path, newText, expected, signal);
      if (!written.ok) return { ok: false, text: `${tool}: ${written.message}` };
      if (written.review !== undefined) return reviewedResult(edit, written.review, context);
      files.wrote(path, oldText ?? "", newText);
      const shown = shownPath(path, cwd);
      const what = oldText === null ? `Created ${shown} (${countLines(newText)} lines).` : `Changed ${shown}.`;
      return { ok: true, text: `${what}\n${unifiedDiff(shown, oldText ?? "", newText)}`.trimEnd(), diffs };
    },
  };
}

function countLines(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}
