/** Pages of a conversation, for a client that loads a session from its end. A page has whole turns. */
import { setImmediate } from "node:timers/promises";
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { HermesEarlier, HermesEarlierMeta, HermesEarlierPage } from "../protocol/sessions.ts";
import type { TranscriptEntry } from "../sessions/conversation.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import { shownCount } from "../sessions/shown-message.ts";
import { replaySaid } from "./replay.ts";

/** A turn that makes the page longer by more than this is cut between two of its steps. Messages. */
const LONGEST_REST = 400;

export type ReplayPage = {
  readonly said: readonly TranscriptEntry[];
  /** Null at the beginning of the conversation. */
  readonly earlier: HermesEarlier | null;
};

/**
 * The last turns before position `before` that hold at least `messages` messages and tool results; default: all. Results
 * of calls before `before` belong to the page.
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
  // A rest without any shown message is not a page of its own.
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

/** A message that steers a running turn begins none. */
function beginsTurn(said: readonly TranscriptEntry[], index: number): boolean {
  return said[index]?.shownAs === "prompt" && said[index - 1]?.role !== "tool";
}

/** Updates of a page between two yields to the event loop: a turn may be running. */
const YIELD_AFTER = 64;

export type PageRequest = {
  readonly before: number;
  /** Default: all. */
  readonly messages?: number;
  readonly signal: AbortSignal;
};

export class ReplayPages {
  readonly #said: () => readonly TranscriptEntry[];
  readonly #toolEntry: StoredSession["toolEntry"];
  /** The client has got everything from here on as live updates. */
  readonly #end: number;

  /** `said` reads the current conversation; `stored` is the session at its opening. */
  constructor(said: () => readonly TranscriptEntry[], stored: StoredSession | undefined) {
    this.#said = said;
    this.#toolEntry = stored?.toolEntry ?? (() => undefined);
    this.#end = stored?.conversation.next ?? 0;
  }

  /** The messages before a position. Rejects with the signal's reason. */
  async page({ before, messages, signal }: PageRequest): Promise<HermesEarlierPage> {
    const { said, earlier } = pageBefore(this.#said(), Math.min(before, this.#end), messages);
    const updates: SessionUpdate[] = [];
    for (const update of replaySaid(said, this.#toolEntry)) {
      updates.push(update);
      if (updates.length % YIELD_AFTER !== 0) continue;
      await setImmediate();
      signal.throwIfAborted();
    }
    return { updates, earlier };
  }
}

/** First update of a partial replay. */
export function earlierUpdate(earlier: HermesEarlier): SessionUpdate {
  const hermes: HermesEarlierMeta = { earlier };
  return { sessionUpdate: "session_info_update", _meta: { hermes } };
}
