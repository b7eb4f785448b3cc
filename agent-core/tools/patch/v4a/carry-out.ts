/** Carries out the changes of a patch: all of them, or none when one fails. */
import type { FileFailure, FileWritten, HostFiles, WriteReview } from "../../../host/host.ts";
import { messageOf } from "../../../platform/errors.ts";
import { writeEdit } from "../../file-edit.ts";
import type { ToolContext } from "../../tool.ts";
import type { FileChange } from "./plan-changes.ts";

/** A change that was made; `review` is there when the user decided about it first. */
export type CarriedOut = { readonly change: FileChange; readonly review: WriteReview | undefined };

export type Outcome =
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

/** `change` is the one that was made, where it is not the planned one: the same edit of a changed text. */
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

/** Removals come last: until then nothing is lost. A cancelled turn reverts everything, and rejects. */
export async function carryOut(changes: readonly FileChange[], ports: Ports): Promise<Outcome> {
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
