/** Mode `patch` of the tool: stages the changes of a patch, and makes all of them or none. */
import type { FileFailure, FileWritten, HostFiles, WriteReview } from "../../../host/host.ts";
import { messageOf } from "../../../platform/errors.ts";
import { editResult, refusedEdit, reviewedResult, verbFor, writeEdit } from "../../file-edit.ts";
import { shownPath } from "../../shown-path.ts";
import type { FileDiff, StagedCall, ToolContext, ToolResult } from "../../tool.ts";
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
  return stageChanges({ tool: "patch", changes, notes }, context);
}

export type PlannedChanges = {
  /** For messages. */
  readonly tool: string;
  readonly changes: readonly FileChange[];
  /** First lines of the result. */
  readonly notes: readonly string[];
};

/** Makes all changes, or none when one fails. */
export function stageChanges({ tool, changes, notes }: PlannedChanges, context: ToolContext): StagedCall {
  return {
    ok: true,
    diffs: changes.flatMap(diffsOf),
    async run() {
      const outcome = await carryOut(changes, context);
      if (!outcome.ok) return failed(tool, outcome, context);
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
function failed(
  tool: string,
  { message, left, decided }: Extract<Outcome, { ok: false }>,
  context: ToolContext,
): ToolResult {
  const results = decided.map((done) => resultOf(done, context));
  const kept = results.length === 0 ? "no file is changed" : "files that the user has decided about keep their changes";
  const undone =
    left.length === 0
      ? `Everything else of the call was reverted; ${kept}.`
      : `Some files could not be reverted: ${left.join(" ")} Check these files. All others have their old text.`;
  return {
    ok: false,
    text: [`${tool}: ${message} ${undone}`, ...results.map(({ text }) => text)].join("\n"),
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

/** A change that was made; `review` is there when the user decided about it first. */
type CarriedOut = { readonly change: FileChange; readonly review: WriteReview | undefined };

type Outcome =
  | { readonly ok: true; readonly done: readonly CarriedOut[] }
  | {
      readonly ok: false;
      /** Message of the change that failed. */
      readonly message: string;
      /** Messages of the changes that could not be reverted. */
      readonly left: readonly string[];
      /** Changes that the user had decided about: they stay. */
      readonly decided: readonly CarriedOut[];
    };

/** `change` is the change that was made, if it differs from the planned one: the same edit of a changed text. */
type Done = (FileWritten & { readonly change?: FileChange }) | FileFailure;

type Ports = Pick<ToolContext, "host" | "signal">;

/** One change of one file, and its undo. */
type Step = {
  readonly change: FileChange;
  readonly run: () => Promise<Done>;
  readonly undo: () => Promise<Done>;
  /** The file gets its path with this step and its text with the next one. */
  readonly isMove?: true;
};

type RunStep = CarriedOut & { readonly step: Step };

/**
 * Makes all changes, or none when one fails. Removals come last: until then nothing is lost. A cancelled turn reverts
 * everything, and rejects.
 */
async function carryOut(changes: readonly FileChange[], ports: Ports): Promise<Outcome> {
  const steps = changes
    .flatMap((change) => stepsOf(change, ports))
    .toSorted((one, other) => Number(one.change.newText === null) - Number(other.change.newText === null));
  const done: RunStep[] = [];
  for (const step of steps) {
    try {
      const result = await step.run();
      if (!result.ok) {
        // A conflict is found before the change; any other failure may have made a part of it.
        if (result.reason !== "conflict") await revertFailed(step);
        return { ok: false, message: result.message, left: await revertAll(done), decided: carriedOut(done, true) };
      }
      done.push({ step, change: result.change ?? step.change, review: result.review });
    } catch (error) {
      await revertFailed(step);
      await revertAll(done);
      throw error;
    }
  }
  return { ok: true, done: carriedOut(done, false) };
}

function carriedOut(done: readonly RunStep[], isOnlyDecided: boolean): readonly CarriedOut[] {
  return done
    .filter(({ step, review }) => !step.isMove && !(isOnlyDecided && review === undefined))
    .map(({ change, review }) => ({ change, review }));
}

/** Returns the messages of the changes that could not be reverted. */
async function revertAll(done: readonly RunStep[]): Promise<readonly string[]> {
  const left: string[] = [];
  // Changes that the user decided about stay.
  for (const { step } of done.filter(({ review }) => review === undefined).toReversed()) {
    const undone = await step.undo().catch(rejected);
    if (!undone.ok) left.push(undone.message);
  }
  return left;
}

/** A failed step may have changed its file; where it did not, its undo finds another text and refuses. */
async function revertFailed({ undo }: Step): Promise<void> {
  await undo().catch(rejected);
}

function rejected(error: unknown): FileFailure {
  return { ok: false, reason: "failed", message: messageOf(error) };
}

/** A revert is not cancelled. */
const never = new AbortController().signal;

function stepsOf(change: FileChange, ports: Ports): readonly Step[] {
  const { path, oldText, newText, movedFrom } = change;
  const { files } = ports.host;
  if (oldText === null) return newText === null ? [] : [writing(change, newText, ports)];
  if (newText === null) return [removal(change, oldText, files, ports.signal)];
  if (movedFrom === undefined) return [writing(change, newText, ports)];
  const move: Step = {
    change,
    isMove: true,
    run: () => files.rename({ from: movedFrom, to: path, expected: oldText }, ports.signal),
    undo: () => files.rename({ from: path, to: movedFrom, expected: oldText }, never),
  };
  return [move, writing(change, newText, ports)];
}

/** Restored as it was where the host can; else as a file with its text. */
function removal(change: FileChange, oldText: string, files: HostFiles, signal: AbortSignal): Step {
  const { path } = change;
  let restore = (): Promise<Done> => revert(files, path, null, oldText);
  return {
    change,
    async run() {
      const removed = await files.guardedWrite({ path, expected: oldText, after: null, purpose: "edit" }, signal);
      if (removed.ok && removed.restore !== undefined) restore = removed.restore;
      return removed;
    },
    undo: () => restore(),
  };
}

function writing(change: FileChange, newText: string, ports: Ports): Step {
  if (change.oldText === newText) return { change, run: nothing, undo: nothing };
  let written: FileChange = change;
  return {
    change,
    async run() {
      const done = await writeEdit({ ...change, tool: "patch", newText }, ports);
      if (done.ok) written = { ...change, ...done.edit };
      return done.ok ? { ...done, change: written } : done;
    },
    undo: () => revert(ports.host.files, written.path, written.newText, written.oldText),
  };
}

function revert(files: HostFiles, path: string, expected: string | null, after: string | null): Promise<Done> {
  return files.guardedWrite({ path, expected, after, purpose: "revert" }, never);
}

function nothing(): Promise<FileWritten> {
  return Promise.resolve({ ok: true });
}
