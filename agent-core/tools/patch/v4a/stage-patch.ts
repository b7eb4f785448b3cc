/** The tool's mode `patch`: from the patch's text to a call that can be shown, approved and run. */
import { unifiedDiff } from "../../edit-result.ts";
import { shownPath } from "../../resolve-path.ts";
import { reviewedResult } from "../../reviewed-edit.ts";
import type { FileDiff, StagedCall, ToolContext, ToolResult } from "../../tool.ts";
import { refusedEdit } from "../refusal.ts";
import { type CarriedOut, carryOut } from "./carry-out.ts";
import { parsePatch } from "./parse-patch.ts";
import { type FileChange, planChanges } from "./plan-changes.ts";

export async function stagePatch(patch: string, context: ToolContext): Promise<StagedCall> {
  const parsed = parsePatch(patch);
  if (!parsed.ok) return { ok: false, text: `patch: ${parsed.text}` };
  const planned = await planChanges(parsed.sections, context);
  if (!planned.ok) return refusedEdit(planned.path, planned.text, context);
  const { changes, notes } = planned;
  if (changes.length === 0) {
    const text = "The files are already as the patch would have them; nothing was changed.";
    return { ok: true, diffs: [], run: () => Promise.resolve({ ok: true, text }) };
  }
  return {
    ok: true,
    diffs: changes.flatMap(diffsOf),
    async run() {
      const outcome = await carryOut(changes, context.host.files, context.signal);
      if (!outcome.ok) return failed(outcome.message, outcome.left);
      const results = outcome.done.map((done) => resultOf(done, context));
      return {
        ok: results.every(({ ok }) => ok),
        text: [...notes, ...results.map(({ text }) => text)].join("\n"),
        diffs: results.flatMap(({ diffs = [] }) => diffs),
      };
    },
  };
}

function failed(message: string, left: readonly string[]): ToolResult {
  const undone = "Everything else of the patch was put back; no file is changed.";
  const rest = `Not everything could be put back: ${left.join(" ")} Look at these files.`;
  return { ok: false, text: `patch: ${message} ${left.length === 0 ? undone : rest}` };
}

function diffsOf({ path, oldText, newText, movedFrom }: FileChange): readonly FileDiff[] {
  if (movedFrom === undefined) return [{ path, oldText, newText }];
  return [
    { path: movedFrom, oldText, newText: null },
    { path, oldText: null, newText },
  ];
}

function resultOf({ change, review }: CarriedOut, context: ToolContext): ToolResult {
  const { path, oldText, newText, movedFrom } = change;
  const { files, cwd } = context;
  if (review !== undefined) {
    return reviewedResult({ tool: "patch", path, oldText, newText: newText ?? "" }, review, context);
  }
  if (movedFrom !== undefined) files.forget(movedFrom);
  if (newText === null) files.forget(path);
  else files.wrote(path, oldText ?? "", newText);
  const shown = shownPath(path, cwd);
  const diff = newText === null ? "" : unifiedDiff(shown, oldText ?? "", newText);
  return { ok: true, text: `${said(change, shown, cwd)}\n${diff}`.trimEnd(), diffs: diffsOf(change) };
}

function said({ oldText, newText, movedFrom }: FileChange, shown: string, cwd: string): string {
  if (newText === null) return `Deleted ${shown}.`;
  if (movedFrom === undefined) return oldText === null ? `Created ${shown}.` : `Changed ${shown}.`;
  return `Moved ${shownPath(movedFrom, cwd)} to ${shown}${oldText === newText ? "" : " and changed it"}.`;
}
