/** Units of a conversation that a compression drops or keeps as a whole, so that no call loses its result. */
import type { TranscriptEntry } from "../sessions/conversation.ts";
import { messageTokens } from "./token-meter.ts";

export type Unit = {
  /** One message, or an answer with the results of its calls, in order. */
  readonly items: readonly TranscriptEntry[];
  /** Estimate. */
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

/** True for a message of the user. */
export function isUsers({ items: [first] }: Unit): boolean {
  return first?.message.role === "user" && !first.message.synthetic;
}
