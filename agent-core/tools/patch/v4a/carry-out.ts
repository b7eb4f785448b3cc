/** Carries out what a patch has planned: all of it, or nothing when something cannot be done. */
import type { FileFailure, FileWritten, HostFiles, WriteReview } from "../../../host/host.ts";
import { messageOf } from "../../../platform/errors.ts";
import type { FileChange } from "./plan-changes.ts";

/** What became of a change; `review` is there when the user decided about it first. */
export type CarriedOut = { readonly change: FileChange; readonly review: WriteReview | undefined };

export type Outcome =
  | { readonly ok: true; readonly done: readonly CarriedOut[] }
  | {
      readonly ok: false;
      /** What could not be done. */
      readonly message: string;
      /** What could not be put back either. */
      readonly left: readonly string[];
      /** What the user had decided about by then: that stands as they want it. */
      readonly decided: readonly CarriedOut[];
    };

type Done = FileWritten | FileFailure;

/** One change of one file, and what takes it back. */
type Step = {
  readonly change: FileChange;
  readonly run: () => Promise<Done>;
  readonly undo: () => Promise<Done>;
  /** The file gets its path first, its text with the next step. */
  readonly isMove?: true;
};

type RunStep = { readonly step: Step; readonly review: WriteReview | undefined };

/** What goes is gone last: until then nothing is lost. A cancelled turn takes everything back, and rejects. */
export async function carryOut(
  changes: readonly FileChange[],
  files: HostFiles,
  signal: AbortSignal,
): Promise<Outcome> {
  const steps = changes
    .flatMap((change) => stepsOf(change, files, signal))
    .toSorted((one, other) => Number(one.change.newText === null) - Number(other.change.newText === null));
  const done: RunStep[] = [];
  for (const step of steps) {
    try {
      const result = await step.run();
      if (!result.ok) {
        // A conflict is found before anything happens; anything else may have happened in part.
        if (result.reason !== "conflict") await takeBackBroken(step);
        return { ok: false, message: result.message, left: await takeBack(done), decided: carriedOut(done, true) };
      }
      done.push({ step, review: result.review });
    } catch (error) {
      await takeBackBroken(step);
      await takeBack(done);
      throw error;
    }
  }
  return { ok: true, done: carriedOut(done, false) };
}

function carriedOut(done: readonly RunStep[], isOnlyDecided: boolean): readonly CarriedOut[] {
  return done
    .filter(({ step, review }) => !step.isMove && !(isOnlyDecided && review === undefined))
    .map(({ step: { change }, review }) => ({ change, review }));
}

/** Gives what could not be put back. */
async function takeBack(done: readonly RunStep[]): Promise<readonly string[]> {
  const left: string[] = [];
  // What the user decided about is as they want it.
  for (const { step } of done.filter(({ review }) => review === undefined).toReversed()) {
    const undone = await step.undo().catch(rejected);
    if (!undone.ok) left.push(undone.message);
  }
  return left;
}

/** A step that broke off may have been done all the same; where it was not, its undo finds another text and refuses. */
async function takeBackBroken({ undo }: Step): Promise<void> {
  await undo().catch(rejected);
}

function rejected(error: unknown): FileFailure {
  return { ok: false, reason: "failed", message: messageOf(error) };
}

/** Taking back is not cancelled. */
const never = new AbortController().signal;

function stepsOf(change: FileChange, files: HostFiles, signal: AbortSignal): readonly Step[] {
  const { path, oldText, newText, movedFrom } = change;
  if (oldText === null) return newText === null ? [] : [creation(change, newText, files, signal)];
  if (newText === null) return [removal(change, oldText, files, signal)];
  if (movedFrom === undefined) return [writing({ ...change, oldText, newText }, files, signal)];
  const move: Step = {
    change,
    isMove: true,
    run: () => files.rename({ from: movedFrom, to: path, expected: oldText }, signal),
    undo: () => files.rename({ from: path, to: movedFrom, expected: oldText }, never),
  };
  return [move, writing({ ...change, oldText, newText }, files, signal)];
}

function creation(change: FileChange, newText: string, files: HostFiles, signal: AbortSignal): Step {
  const { path } = change;
  return {
    change,
    run: () => files.writeText(path, newText, { kind: "absent" }, signal),
    undo: () => files.putBack(path, null, { kind: "text", text: newText }, never),
  };
}

/** Brought back as it was where the host can; else as a file with its text. */
function removal(change: FileChange, oldText: string, files: HostFiles, signal: AbortSignal): Step {
  const { path } = change;
  let bringBack = (): Promise<Done> => files.putBack(path, oldText, { kind: "absent" }, never);
  return {
    change,
    async run() {
      const removed = await files.remove(path, oldText, signal);
      if (removed.ok && removed.bringBack !== undefined) bringBack = removed.bringBack;
      return removed;
    },
    undo: () => bringBack(),
  };
}

function writing(
  change: FileChange & { readonly oldText: string; readonly newText: string },
  files: HostFiles,
  signal: AbortSignal,
): Step {
  const { path, oldText, newText } = change;
  if (oldText === newText) return { change, run: nothing, undo: nothing };
  return {
    change,
    run: () => files.writeText(path, newText, { kind: "text", text: oldText }, signal),
    undo: () => files.putBack(path, oldText, { kind: "text", text: newText }, never),
  };
}

function nothing(): Promise<FileWritten> {
  return Promise.resolve({ ok: true });
}
