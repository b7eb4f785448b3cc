/** Makes room without asking a model: old, long tool results give way to a line that says what they were. */
import type { TranscriptEntry } from "../sessions/conversation.ts";

/** Shorter results are not worth the loss. Characters. */
const LONG_OUTPUT_CHARS = 800;
const KEPT_CHARS = 200;

export type Shortened = { readonly position: number; readonly content: string };

/** For the results among `items` that are long; of those that say the same only the newest keeps its beginning. */
export function shortenOutputs(items: readonly TranscriptEntry[]): readonly Shortened[] {
  const seen = new Set<string>();
  return items
    .toReversed()
    .flatMap(({ position, message }): Shortened[] => {
      if (message.role !== "tool" || message.content.length <= LONG_OUTPUT_CHARS) return [];
      const isRepeated = seen.has(message.content);
      seen.add(message.content);
      return [{ position, content: isRepeated ? REPEATED : stub(message.content) }];
    })
    .toReversed();
}

const REPEATED = "[The same output came again later; left out here to make room.]";

function stub(content: string): string {
  const kept = content.slice(0, KEPT_CHARS).toWellFormed();
  const lines = content.split("\n").length;
  return `${kept}\n[… of ${lines} lines the rest was left out to make room; get it again if it is needed]`;
}
