/** How the agent's writes meet the review: after they have landed, or before, as the user's setting says. */
import * as vscode from "vscode";
import type { AgentEdit, EditReview, Verdict } from "../client/client-method.ts";
import type { LandedEdits } from "./landed-edits.ts";
import type { Proposals } from "./proposals.ts";

/** `shown` is called when an edit has come up for review, with where it can be seen. */
export function editReview(
  landed: LandedEdits,
  proposals: Proposals,
  shown: (path: string, where: "file" | "proposal") => void,
): EditReview {
  return {
    async verdict(edit: AgentEdit, signal: AbortSignal): Promise<Verdict> {
      const mode = vscode.workspace.getConfiguration("hermes").get<string>("review.mode");
      const proposed = { ...edit, after: edit.after ?? "" };
      // An empty file that comes or goes has no hunk to decide about.
      if (mode !== "before" || proposed.after === (edit.before ?? "")) return { kind: "after" };
      const verdict = proposals.propose(proposed, signal);
      shown(edit.path, "proposal");
      return verdict;
    },
    async landing(edit, write) {
      await landed.landing(edit, write);
      if (edit.after !== null) shown(edit.path, "file");
    },
    moving: (from, to, move) => landed.moving(from, to, move),
    puttingBack: (path, after, write) => landed.puttingBack(path, after, write),
  };
}
