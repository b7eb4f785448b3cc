/** A folder, a desk where edits are reviewed, and an agent that makes them. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type AgentSide, connectAgentSide, workspaceFolder } from "./agent-side.ts";
import { closeEditors } from "./editors.ts";
import { ReviewDesk } from "./review-desk.ts";

export type ReviewBench = {
  /** Absolute path. No other test has it: VS Code may restore the unsaved text of a file that was just closed. */
  readonly folder: string;
  readonly desk: ReviewDesk;
  readonly side: AgentSide;
  /** Takes everything away again, the folder too. */
  close(): Promise<void>;
};

/** `name` begins the name of its folder in the workspace. */
export async function openReviewBench(name: string): Promise<ReviewBench> {
  const folder = mkdtempSync(join(workspaceFolder(), `${name}-`));
  const desk = new ReviewDesk();
  const side = await connectAgentSide(desk.editReview);
  return {
    folder,
    desk,
    side,
    async close() {
      await closeEditors();
      await side.dispose();
      await desk.dispose();
      rmSync(folder, { recursive: true });
    },
  };
}
