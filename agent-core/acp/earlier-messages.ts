/** What was said in a session before the part that was replayed when it was opened, a page at a time. */
import { setImmediate } from "node:timers/promises";
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { HermesEarlier, HermesEarlierMeta, HermesEarlierPage } from "../protocol/sessions.ts";
import type { TranscriptEntry } from "../sessions/conversation.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import { replaySaid } from "./replay.ts";
import { pageBefore } from "./replay-page.ts";

/** Updates of a page that are made at a time: a turn may be running meanwhile. */
const MADE_AT_ONCE = 64;

export type PageRequest = {
  readonly before: number;
  /** Default: all. */
  readonly messages?: number;
  readonly signal: AbortSignal;
};

export class EarlierMessages {
  readonly #said: () => readonly TranscriptEntry[];
  readonly #toolEntry: StoredSession["toolEntry"];
  /** What was said from here on was sent as it was said. */
  readonly #end: number;

  /** `said`: the conversation as it stands; `stored`: what the session began with here. */
  constructor(said: () => readonly TranscriptEntry[], stored: StoredSession | undefined) {
    this.#said = said;
    this.#toolEntry = stored?.toolEntry ?? (() => undefined);
    this.#end = stored?.conversation.next ?? 0;
  }

  /** The messages before a position, as they stand when it is asked for. Rejects with the signal's reason. */
  async page({ before, messages, signal }: PageRequest): Promise<HermesEarlierPage> {
    const { said, earlier } = pageBefore(this.#said(), Math.min(before, this.#end), messages);
    const updates: SessionUpdate[] = [];
    for (const update of replaySaid(said, this.#toolEntry)) {
      updates.push(update);
      if (updates.length % MADE_AT_ONCE !== 0) continue;
      await setImmediate();
      signal.throwIfAborted();
    }
    return { updates, earlier };
  }
}

/** Tells that a replay does not begin with the beginning. */
export function earlierUpdate(earlier: HermesEarlier): SessionUpdate {
  const hermes: HermesEarlierMeta = { earlier };
  return { sessionUpdate: "session_info_update", _meta: { hermes } };
}
