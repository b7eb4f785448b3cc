/** How much of a conversation is replayed at a time: whole turns, so that nobody is shown half of one. */

import type { HermesEarlier } from "../protocol/sessions.ts";
import type { TranscriptEntry } from "../sessions/conversation.ts";
import { shownCount } from "../sessions/shown-message.ts";

/** A turn that makes a page by so many messages longer than was asked for is cut between two of its steps. */
const LONGEST_REST = 400;

export type ReplayPage = {
  readonly said: readonly TranscriptEntry[];
  /** Null when nothing was said before it. */
  readonly earlier: HermesEarlier | null;
};

/**
 * The last turns before position `before` that hold at least `messages` messages, tool results included; default: all.
 * Where `before` parts calls from their results, those are on the page, too.
 */
export function pageBefore(
  said: readonly TranscriptEntry[],
  before: number,
  messages = Number.POSITIVE_INFINITY,
): ReplayPage {
  const end = endBefore(said, before);
  const start = startOfPage(said, end, messages);
  const earlier = shownCount(said.slice(0, start).map(({ shownAs }) => shownAs));
  const first = said[start];
  // What nobody would see as a message is no page of its own.
  if (earlier === 0 || first === undefined) return { said: said.slice(0, end), earlier: null };
  return { said: said.slice(start, end), earlier: { before: first.position, messages: earlier } };
}

function endBefore(said: readonly TranscriptEntry[], before: number): number {
  const found = said.findIndex(({ position }) => position >= before);
  let end = found < 0 ? said.length : found;
  while (said[end]?.role === "tool") end += 1;
  return end;
}

function startOfPage(said: readonly TranscriptEntry[], end: number, messages: number): number {
  const start = Math.max(0, end - messages);
  const least = Math.max(0, start - LONGEST_REST);
  for (let index = start; index >= least; index -= 1) if (beginsTurn(said, index)) return index;
  for (let index = start; index > 0; index -= 1) if (said[index]?.role !== "tool") return index;
  return 0;
}

/** What the user said in the middle of a turn begins none. */
function beginsTurn(said: readonly TranscriptEntry[], index: number): boolean {
  return said[index]?.shownAs === "prompt" && said[index - 1]?.role !== "tool";
}
