/** Carries out what a patch has planned: all of it, or nothing when something cannot be done. */
import type { FileFailure, FileWritten, HostFiles, WriteReview } from "../../../host/host.ts";
import type { FileChange } from "./plan-changes.ts";

/** What became of a change; `review` is there when the user decided about it first. */
export type CarriedOut = { readonly change: FileChange; readonly review: WriteReview | undefined };

export type Outcome =
  | { readonly ok: true; readonly done: readonly CarriedOut[] }
  /** `message` says what could not be done; `left` what could not be put back either. */
  | { readonly ok: false; readonly message: string; readonly left: readonly string[] };

type Change = () => Promise<FileWritten | FileFailure>;

/** One change of one file, and what takes it back. */
type Step = { readonly change: FileChange; readonly run: Change; readonly undo: Change; readonly isMove?: true };

/** What goes is gone last: until then nothing is lost. A cancelled turn takes everything back, and rejects. */
export async function carryOut(
  changes: readonly FileChange[],
  files: HostFiles,
  signal: AbortSignal,
): Promise<Outcome> {
  const steps = changes
    .flatMap((change) => stepsOf(change, files, signal))
    .toSorted((one, other) => Number(one.change.newText === null) - Number(other.change.newText === null));
  const done: { readonly step: Step; readonly review: WriteReview | undefined }[] = [];
  const takeBack = async (): Promise<readonly string[]> => {
    const left: string[] = [];
    // What the user decided about is as they want it.
    for (const { step } of done.filter(({ review }) => review === undefined).toReversed()) {
      const undone = await step.undo();
      if (!undone.ok) left.push(undone.message);
    }
    return left;
  };
  for (const step of steps) {
    try {
      const result = await step.run();
      if (!result.ok) return { ok: false, message: result.message, left: await takeBack() };
      done.push({ step, review: result.review });
    } catch (error) {
      await takeBack();
      throw error;
    }
  }
  return {
    ok: true,
    done: done.flatMap(({ step, review }) => (step.isMove ? [] : [{ change: step.change, review }])),
  };
}

/** Taking back is not cancelled. */
const never = new AbortController().signal;

function stepsOf(change: FileChange, files: HostFiles, signal: AbortSignal): readonly Step[] {
  const { path, oldText, newText, movedFrom } = change;
  if (movedFrom !== undefined && oldText !== null) {
    const move: Step = {
      change,
      isMove: true,
      run: () => files.rename({ from: movedFrom, to: path, expected: oldText }, signal),
      undo: () => files.rename({ from: path, to: movedFrom, expected: oldText }, never),
    };
    return [move, writing(change, files, signal)];
  }
  if (newText === null && oldText !== null) {
    return [
      {
        change,
        run: () => files.remove(path, oldText, signal),
        undo: () => files.putBack(path, oldText, { kind: "absent" }, never),
      },
    ];
  }
  return [writing(change, files, signal)];
}

function writing(change: FileChange, files: HostFiles, signal: AbortSignal): Step {
  const { path, oldText } = change;
  const newText = change.newText ?? "";
  if (oldText === newText) return { change, run: nothing, undo: nothing };
  if (oldText === null) {
    return {
      change,
      run: () => files.writeText(path, newText, { kind: "absent" }, signal),
      undo: () => files.putBack(path, null, { kind: "text", text: newText }, never),
    };
  }
  return {
    change,
    run: () => files.writeText(path, newText, { kind: "text", text: oldText }, signal),
    undo: () => files.putBack(path, oldText, { kind: "text", text: newText }, never),
  };
}

function nothing(): Promise<FileWritten> {
  return Promise.resolve({ ok: true });
}
