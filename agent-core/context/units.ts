/** What is dropped or kept as one: a call never stands without its result. */
import type { TranscriptEntry } from "../sessions/conversation.ts";
import { messageTokens } from "./token-estimate.ts";

export type Unit = {
  /** In order; one message, or an answer with the results of its calls. */
  readonly items: readonly TranscriptEntry[];
  /** As estimated. */
  readonly tokens: number;
};

export function unitsOf(items: readonly TranscriptEntry[]): readonly Unit[] {
  const groups: TranscriptEntry[][] = [];
  for (const item of items) {
    const last = groups.at(-1);
    const belongs = item.message.role === "tool" && last?.[0]?.message.role === "assistant";
    if (belongs) last?.push(item);
    else groups.push([item]);
  }
  return groups.map((group) => ({
    items: group,
    tokens: group.reduce((sum, { message }) => sum + messageTokens(message), 0),
  }));
}

/** Something that the user said. */
export function isUsers({ items: [first] }: Unit): boolean {
  return first?.message.role === "user" && !first.message.synthetic;
}
