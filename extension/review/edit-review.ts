/** Route of the agent's changes into the files: reviewed after the write, or before it, as the user's setting says. */
import * as vscode from "vscode";
import type { EditReview } from "../client/client-services.ts";
import type { LandedEdits } from "./landed-edits.ts";
import type { Proposals } from "./proposals.ts";

/** `shown` is called when an edit has come up for review, with the place where it can be seen. */
export function editReview(
  landed: LandedEdits,
  proposals: Proposals,
  shown: (path: string, where: "file" | "proposal") => void,
): EditReview {
  return {
    async write(edit, signal, writing) {
      const mode = vscode.workspace.getConfiguration("hermes").get<string>("review.mode");
      // An empty file that comes or goes has no hunk to decide about.
      if (mode === "before" && (edit.after ?? "") !== (edit.expected ?? "")) {
        const propose = () => shown(edit.path, "proposal");
        return proposals.decide(edit, { signal, proposed: propose }, (decided) => {
          writing();
          return landed.write(decided);
        });
      }
      writing();
      const written = await landed.land(edit);
      if (edit.after !== null) shown(edit.path, "file");
      return { written };
    },
    revert: (edit) => landed.revert(edit),
    move: (file, move) => landed.move(file, move),
  };
}
