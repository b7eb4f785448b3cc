/** A folder, a desk where edits are reviewed, and an agent that makes them. */
import { mkdirSync, rmSync } from "node:fs";
import { type AgentSide, connectAgentSide } from "./agent-side.ts";
import { closeEditors } from "./editors.ts";
import { ReviewDesk } from "./review-desk.ts";

export type ReviewBench = {
  readonly desk: ReviewDesk;
  readonly side: AgentSide;
  /** Takes everything away again, the folder too. */
  close(): Promise<void>;
};

/** `folder`: absolute; it is made. */
export async function openReviewBench(folder: string): Promise<ReviewBench> {
  mkdirSync(folder, { recursive: true });
  const desk = new ReviewDesk();
  const side = await connectAgentSide(desk.editReview);
  return {
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
