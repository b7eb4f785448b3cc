/** What an answer adds that was given while the index is being built. */
import type { Building } from "./questions.ts";

/** One sentence. */
export function stillBuilding({ done, total }: Building): string {
  return `The index of sessions is still being built (${done} of ${total}); older ones may be missing yet.`;
}
