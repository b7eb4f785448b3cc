/** Deltas that arrived together leave together: a fast model sends hundreds in a packet, and each event has its price. */
import type { ModelEvent } from "./wire.ts";

/** Neighbours of one kind become one; order and everything else stay. */
export function joinDeltas(events: readonly ModelEvent[]): readonly ModelEvent[] {
  if (events.length < 2) return events;
  const joined: ModelEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    const both = last && join(last, event);
    if (both === undefined) joined.push(event);
    else joined[joined.length - 1] = both;
  }
  return joined;
}

function join(first: ModelEvent, second: ModelEvent): ModelEvent | undefined {
  if (first.type === "text-delta" && second.type === "text-delta") return { ...first, text: first.text + second.text };
  if (first.type === "reasoning-delta" && second.type === "reasoning-delta") {
    return { ...first, text: first.text + second.text };
  }
  if (first.type === "tool-call-delta" && second.type === "tool-call-delta" && first.index === second.index) {
    return { ...first, text: first.text + second.text };
  }
  return undefined;
}
