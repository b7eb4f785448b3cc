/** Mode `patch` of the tool: turns the text of a patch into a staged call. */
import { editResult, refusedEdit, reviewedResult, verbFor } from "../../file-edit.ts";
import { shownPath } from "../../resolve-path.ts";
import type { FileDiff, StagedCall, ToolContext, ToolResult } from "../../tool.ts";
import { type CarriedOut, carryOut, type Outcome } from "./carry-out.ts";
import { parsePatch } from "./parse-patch.ts";
import { type FileChange, planChanges } from "./plan-changes.ts";

export async function stagePatch(patch: string, context: ToolContext): Promise<StagedCall> {
  const parsed = parsePatch(patch);
  if (!parsed.ok) return { ok: false, text: `patch: ${parsed.text}` };
  const planned = await planChanges(parsed.sections, context);
  if (!planned.ok) return refusedEdit(planned.path, planned.text, context);
  const { changes, notes } = planned;
  if (changes.length === 0) {
    const text = "The files already have the changes of this patch; nothing was changed.";
    return { ok: true, diffs: [], run: () => Promise.resolve({ ok: true, text }) };
  }
  return {
    ok: true,
    diffs: changes.flatMap(diffsOf),
    async run() {
      const outcome = await carryOut(changes, context);
      if (!outcome.ok) return failed(outcome, context);
      const results = outcome.done.map((done) => resultOf(done, context));
      return {
        ok: results.every(({ ok }) => ok),
        text: [...notes, ...results.map(({ text }) => text)].join("\n"),
        diffs: results.flatMap(({ diffs = [] }) => diffs),
      };
    },
  };
}

/** Result of a failure: every file has its old text, except those the user decided about and those not restored. */
function failed({ message, left, decided }: Extract<Outcome, { ok: false }>, context: ToolContext): ToolResult {
  const results = decided.map((done) => resultOf(done, context));
  const kept = results.length === 0 ? "no file is changed" : "files that the user has decided about keep their changes";
  const undone =
    left.length === 0
      ? `Everything else of the patch was reverted; ${kept}.`
      : `Some files could not be reverted: ${left.join(" ")} Check these files. All others have their old text.`;
  return {
    ok: false,
    text: [`patch: ${message} ${undone}`, ...results.map(({ text }) => text)].join("\n"),
    diffs: results.flatMap(({ diffs = [] }) => diffs),
  };
}

function diffsOf({ path, oldText, newText, movedFrom }: FileChange): readonly FileDiff[] {
  if (movedFrom === undefined) return [{ path, oldText, newText }];
  return [
    { path: movedFrom, oldText, newText: null },
    { path, oldText: null, newText, movedFrom },
  ];
}

function resultOf({ change, review }: CarriedOut, context: ToolContext): ToolResult {
  const { path, oldText, newText, movedFrom } = change;
  const { files, cwd } = context;
  if (movedFrom !== undefined) files.forget(movedFrom);
  const moved = movedFrom === undefined ? "" : `Moved ${shownPath(movedFrom, cwd)} to ${shownPath(path, cwd)}`;
  const edit = { ...change, tool: "patch", newText: newText ?? "" };
  if (review !== undefined) {
    const result = reviewedResult(edit, review, context);
    if (movedFrom === undefined) return result;
    return {
      ...result,
      text: `${moved}. ${result.text}`,
      ...(result.diffs && { diffs: result.diffs.map((diff) => ({ ...diff, movedFrom })) }),
    };
  }
  if (newText === null) {
    files.forget(path);
    return { ok: true, text: `${verbFor(oldText, newText)} ${shownPath(path, cwd)}.`, diffs: diffsOf(change) };
  }
  const isMoveOnly = oldText === newText;
  const what = movedFrom === undefined ? `${verbFor(oldText, newText)} ${shownPath(path, cwd)}` : moved;
  return {
    ...editResult(edit, context, `${what}${movedFrom === undefined || isMoveOnly ? "" : " and changed it"}.`),
    diffs: diffsOf(change),
  };
}
