/** Plans the change of each file from the sections of a patch: reads and checks everything, and changes nothing. */
import { withoutMark } from "../../../host/decode-file.ts";
import type { FileFailure } from "../../../host/host.ts";
import { deletedReason, type FileEdit, rebaseEdit, staleReason } from "../../file-edit.ts";
import { nearFiles } from "../../nearest-names.ts";
import { absolutePath, shownPath } from "../../shown-path.ts";
import type { FileDiff, ToolContext } from "../../tool.ts";
import { inBreaksOf } from "../line-breaks.ts";
import { applyHunks, applyHunksExactly } from "./apply-hunks.ts";
import type { FileSection, Hunk } from "./parse-patch.ts";
import { candidatePaths } from "./parse-patch.ts";

/** Change of one file, as far as it is known before the write. */
export type FileChange = FileDiff & Pick<FileEdit, "base" | "exactly" | "isFormatted">;

export type PlannedPatch =
  /** `notes`: hunks without an exact match, and how they were found. */
  | { readonly ok: true; readonly changes: readonly FileChange[]; readonly notes: readonly string[] }
  /** `path`: absolute path of the file that caused the refusal. */
  | { readonly ok: false; readonly path: string; readonly text: string };

type FoundFile = {
  readonly ok: true;
  readonly path: string;
  readonly text: string;
  readonly stale: string | undefined;
};

type Refusal = { readonly ok: false; readonly text: string };

/** Plans the sections in order: a later one sees the changes of the earlier ones. */
export async function planChanges(sections: readonly FileSection[], context: ToolContext): Promise<PlannedPatch> {
  const plan = new Plan(context);
  for (const section of sections) {
    const refusal = await plan.take(section);
    if (refusal === undefined) continue;
    const path = absolutePath(section.path, context.cwd);
    return { ok: false, path, text: `${section.path}: ${refusal.text} Nothing was changed.` };
  }
  return { ok: true, changes: plan.changes, notes: plan.notes };
}

class Plan {
  readonly notes: string[] = [];
  readonly #context: ToolContext;
  readonly #files = new Map<string, FileChange>();

  constructor(context: ToolContext) {
    this.#context = context;
  }

  /** Leaves out files without a difference. */
  get changes(): readonly FileChange[] {
    return [...this.#files.values()].filter(
      ({ oldText, newText, movedFrom }) => oldText !== newText || movedFrom !== undefined,
    );
  }

  async take(section: FileSection): Promise<Refusal | undefined> {
    switch (section.kind) {
      case "add":
        return this.#add(section.path, section.text);
      case "delete":
        return this.#delete(section);
      case "update":
        return this.#update(section);
    }
  }

  async #add(written: string, text: string): Promise<Refusal | undefined> {
    const path = absolutePath(written, this.#context.cwd);
    const present = await this.#present(path);
    if (!present.ok && present.reason !== "missing") return refused(present.message);
    if (present.ok) return refused("it already exists. Update it, or delete it first.");
    // A file that the patch has deleted before keeps its form.
    const oldText = this.#files.get(path)?.oldText ?? null;
    this.#set({ path, oldText, newText: oldText === null ? text : inBreaksOf(oldText, withoutMark(text)) });
    return undefined;
  }

  async #delete(section: FileSection): Promise<Refusal | undefined> {
    const found = await this.#find(section);
    if (!found.ok) return found;
    const { path, text, stale } = found;
    if (stale !== undefined) return refused(stale);
    const known = this.#files.get(path);
    this.#files.delete(path);
    // A file that this patch has added has nothing to delete; a moved one is deleted at its old path.
    if (known?.oldText !== null) {
      this.#set({ path: known?.movedFrom ?? path, oldText: known?.oldText ?? text, newText: null });
    }
    return undefined;
  }

  async #update(section: Extract<FileSection, { kind: "update" }>): Promise<Refusal | undefined> {
    const { moveTo, hunks } = section;
    const found = await this.#find(section);
    if (!found.ok) return found;
    const { path, text, stale } = found;
    if (stale !== undefined) return moveTo === undefined ? this.#rebase(path, text, { hunks, stale }) : refused(stale);
    const applied = applyHunks(text, hunks);
    if (!applied.ok) return applied;
    if (hunks.length === 0 && moveTo === undefined) return refused("its section contains no change.");
    this.notes.push(...applied.how.map((how) => `${shownPath(path, this.#context.cwd)}: ${how}.`));
    const known = this.#files.get(path) ?? { path, oldText: text };
    const change = { ...known, newText: applied.text, exactly: this.#exactly(path, hunks) };
    if (moveTo !== undefined) return this.#move(change, moveTo);
    this.#set(change);
    return undefined;
  }

  /** The model does not know the file's present text: its hunks must fit that and the known one exactly. */
  #rebase(
    path: string,
    text: string,
    { hunks, stale }: { readonly hunks: readonly Hunk[]; readonly stale: string },
  ): Refusal | undefined {
    const { files } = this.#context;
    const known = this.#files.get(path);
    const [base = text, present = text] = [known?.base ?? files.recall(path), known?.oldText ?? text];
    const exactly = this.#exactly(path, hunks);
    const newText = rebaseEdit({ exactly }, { base, present });
    if (newText === undefined || hunks.length === 0) return refused(stale);
    this.#set({ path, oldText: present, newText, base, exactly });
    return undefined;
  }

  /** Applies the hunks after those that this patch already has for the file. */
  #exactly(path: string, hunks: readonly Hunk[]): (text: string) => string | undefined {
    const known = this.#files.get(path);
    return (text) => {
      const earlier = known === undefined ? text : known.exactly?.(text);
      return earlier === undefined ? undefined : applyHunksExactly(earlier, hunks);
    };
  }

  async #move(change: FileChange, moveTo: string): Promise<Refusal | undefined> {
    const to = absolutePath(moveTo, this.#context.cwd);
    const taken = await this.#present(to);
    if (taken.ok || taken.reason !== "missing") return refused(`the new path ${moveTo} already exists.`);
    const { oldText, newText } = change;
    const origin = change.movedFrom ?? change.path;
    const replaced = this.#files.get(to)?.oldText ?? null;
    this.#files.delete(change.path);
    if (oldText === null || origin === to) {
      // A file that this patch has added is created at its last path.
      this.#set({ path: to, oldText: oldText ?? replaced, newText });
    } else if (replaced === null) {
      this.#set({ path: to, oldText, newText, movedFrom: origin });
    } else {
      // The patch has deleted a file there, which gets the text: a move needs a free path.
      this.#set({ path: to, oldText: replaced, newText });
      this.#set({ path: origin, oldText, newText: null });
    }
    return undefined;
  }

  /** The file that a path of the patch means, with its text so far; `stale` when the model does not know the file's text. */
  async #find(section: FileSection): Promise<FoundFile | Refusal> {
    const { cwd, host } = this.#context;
    for (const path of candidatePaths(section, cwd)) {
      const present = await this.#present(path);
      if (!present.ok && present.reason !== "missing") return refused(present.message);
      if (!present.ok) continue;
      const known = this.#files.get(path);
      const isKnown = known !== undefined && known.base === undefined;
      const stale = isKnown ? undefined : staleReason(path, known?.oldText ?? present.text, this.#context);
      return { ok: true, path, text: present.text, stale };
    }
    const path = absolutePath(section.path, cwd);
    const why = deletedReason(path, this.#context) ?? "it does not exist.";
    return refused(`${why}${await nearFiles(path, cwd, host)}`);
  }

  /** The file with the changes of the patch so far. */
  async #present(path: string): Promise<{ readonly ok: true; readonly text: string } | FileFailure> {
    const known = this.#files.get(path);
    const gone: FileFailure = { ok: false, reason: "missing", message: `${path} does not exist.` };
    if (known !== undefined) return known.newText === null ? gone : { ok: true, text: known.newText };
    if ([...this.#files.values()].some(({ movedFrom }) => movedFrom === path)) return gone;
    return this.#context.host.files.readText(path, this.#context.signal);
  }

  #set(change: FileChange): void {
    this.#files.set(change.path, change);
  }
}

function refused(text: string): Refusal {
  return { ok: false, text };
}
