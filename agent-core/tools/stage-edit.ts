/** The last steps of every edit: what it would do, then the write, guarded by the text it was worked out from. */
import type { ExpectedText } from "../host/host.ts";
import { unifiedDiff } from "./edit-result.ts";
import { shownPath } from "./resolve-path.ts";
import type { StagedCall, ToolContext } from "./tool.ts";

export type Edit = {
  /** For messages. */
  readonly tool: string;
  /** Absolute. */
  readonly path: string;
  /** Null for a new file. */
  readonly oldText: string | null;
  readonly newText: string;
};

export function stageEdit({ tool, path, oldText, newText }: Edit, context: ToolContext): StagedCall {
  const { host, cwd, signal, files } = context;
  const diffs = [{ path, oldText, newText }];
  const expected: ExpectedText = oldText === null ? { kind: "absent" } : { kind: "text", text: oldText };
  return {
    ok: true,
    diffs,
    async run() {
      const written = await host.files.writeText(path, newText, expected, signal);
      if (!written.ok) return { ok: false, text: `${tool}: ${written.message}` };
      files.note(path, newText);
      const shown = shownPath(path, cwd);
      const what = oldText === null ? `Created ${shown} (${countLines(newText)} lines).` : `Changed ${shown}.`;
      return { ok: true, text: `${what}\n${unifiedDiff(shown, oldText ?? "", newText)}`.trimEnd(), diffs };
    },
  };
}

function countLines(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}
