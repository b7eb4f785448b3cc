/** Rates of one platform: the next moment at which a message may be sent. */
import type { Limits } from "../adapters/adapter.ts";

const SECOND = 1_000;
const MINUTE = 60_000;

export class Rates {
  readonly #limits: Limits;
  /** Times of the last messages in all chats. */
  #all: number[] = [];
  /** Times of the last messages of each chat. */
  readonly #chats = new Map<string, number[]>();
  #pausedUntil = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Milliseconds until a message may be sent to a chat; 0: now, and the message counts. */
  take(chat: string, isGroup: boolean, now: number): number {
    const { perChatMs, perSecond, groupPerMinute = Number.POSITIVE_INFINITY } = this.#limits;
    this.#all = this.#all.filter((at) => at > now - SECOND);
    const sent = (this.#chats.get(chat) ?? []).filter((at) => at > now - MINUTE);
    const waits = [
      this.#pausedUntil - now,
      (sent.at(-1) ?? Number.NEGATIVE_INFINITY) + perChatMs - now,
      this.#all.length < perSecond ? 0 : (this.#all[0] ?? now) + SECOND - now,
      isGroup && sent.length >= groupPerMinute ? (sent[0] ?? now) + MINUTE - now : 0,
    ];
    const wait = Math.max(0, ...waits);
    if (wait > 0) return wait;
    this.#all.push(now);
    this.#chats.set(chat, [...sent, now]);
    if (this.#chats.size > 10_000) this.#forget(now);
    return 0;
  }

  /** The platform asked for a pause. */
  pause(ms: number, now: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
  }

  #forget(now: number): void {
    for (const [chat, sent] of this.#chats) if ((sent.at(-1) ?? 0) < now - MINUTE) this.#chats.delete(chat);
  }
}
