/**
 * The only way out, for all platforms: order within a chat, rates, pauses that a platform asks for, retries, and a ledger in
 * the journal. Each message is sent at least once; one whose outcome is unknown is sent again with a mark.
 */
import { basename } from "node:path";
import type { Clock } from "../../agent-core/platform/clock.ts";
import { newId } from "../../agent-core/platform/new-id.ts";
import {
  type Button,
  failed,
  type Growing,
  type Limits,
  type Outgoing,
  type OutgoingFile,
  type Sent,
} from "../adapters/adapter.ts";
import type { GatewayJournal, OutgoingEntry } from "../journal.ts";
import { lengthOf, toMarkup } from "../text/markup.ts";
import { splitMarkdown } from "../text/split.ts";

/** Unknown outcomes after which a message is given up. */
const MAX_TRIES = 3;
/** Age at which a message is given up. Milliseconds. */
const MAX_AGE_MS = 24 * 60 * 60_000;
/** First and longest pause before a retry. Milliseconds. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** Pause when a platform asks for one without its length. Milliseconds. */
const DEFAULT_PAUSE_MS = 5_000;
const EDIT_TRIES = 20;
const EDIT_RETRY_MS = 500;
const SECOND = 1_000;
const MINUTE = 60_000;
const DOUBTFUL = "(perhaps a repeat) ";

/** The sending part of an adapter. */
export type Sender = {
  readonly limits: Limits;
  send(chat: string, message: Outgoing): Promise<Sent>;
  edit(chat: string, id: string, message: Outgoing): Promise<Sent>;
  /** Missing where the platform has no way of its own. */
  stream?(chat: string, id: string | undefined, message: Growing): Promise<Sent>;
  sendFile(chat: string, file: OutgoingFile): Promise<Sent>;
};

/** A chat as the outbox addresses it. */
export type Place = { readonly platform: string; readonly chat: string; readonly isGroup: boolean };

export type OutboxOptions = {
  readonly journal: Pick<GatewayJournal, "outgoing" | "end" | "sending" | "sent">;
  readonly clock: Clock;
  /** Undefined while the platform is not connected: its messages wait. */
  readonly senderOf: (platform: string) => Sender | undefined;
  readonly readFile: (path: string) => Promise<Uint8Array>;
  /** One line without texts of users. */
  readonly log: (line: string) => void;
};

/** Longest text that fits, as `toMarkup` renders it. */
export function fitsInto(limits: Limits): (piece: string) => boolean {
  const room = limits.textLength - (limits.measure === "bytes" ? 0 : DOUBTFUL.length);
  return (piece) => {
    if (piece.length > room * 4) return false;
    return lengthOf(toMarkup(piece, limits.markup), limits) <= room;
  };
}

type EntryParts = { readonly replaces?: string | undefined; readonly buttons?: readonly Button[] };

/** A try that ended the entry, or the entry for the next try. */
type Tried = { readonly id: string | undefined } | { readonly next: OutgoingEntry; readonly waits: boolean };

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #rates = new Map<string, Rates>();
  readonly #queues = new Map<string, OutgoingEntry[]>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #ids = new Map<string, (id: string | undefined) => void>();
  readonly #ended = new AbortController();
  #count = 0;

  constructor(options: OutboxOptions) {
    this.#options = options;
    const left = [...options.journal.outgoing.values()];
    for (const entry of left.sort((one, other) => one.order - other.order)) this.#queue(entry);
  }

  /** Entry for the journal; it is cut when its turn comes. `replaces`: id of the message that becomes its first one. */
  entry(place: Place, markdown: string, { replaces, buttons = [] }: EntryParts = {}): OutgoingEntry {
    return { ...this.#entry(place, markdown), buttons: [...buttons], ...(replaces !== undefined && { replaces }) };
  }

  fileEntry(place: Place, path: string): OutgoingEntry {
    return { ...this.#entry(place, ""), file: path };
  }

  /** Sends entries that are in the journal. */
  push(entries: readonly OutgoingEntry[]): void {
    for (const entry of entries) this.#queue(entry);
  }

  /** Stores and sends a text. Resolves to the id of its last message; undefined when it was given up. */
  say(place: Place, markdown: string, buttons: readonly Button[] = []): Promise<string | undefined> {
    return this.send(this.entry(place, markdown, { buttons }));
  }

  /** The same for an entry. */
  async send(entry: OutgoingEntry): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#ids.set(entry.id, resolve);
    this.#options.journal.end([], [entry]);
    this.push([entry]);
    return promise;
  }

  /** The platform shows growing answers in its own way. */
  streams({ platform }: Place): boolean {
    return this.#options.senderOf(platform)?.stream !== undefined;
  }

  /** Edits, streams or sends a message beside the ledger, if the rates allow it now: a preview that a later one replaces. */
  async preview(place: Place, id: string | undefined, markdown: string, isStreamed = false): Promise<Sent> {
    const sender = this.#options.senderOf(place.platform);
    if (sender === undefined) return failed("unsent", "the platform is not connected");
    const rates = this.#ratesOf(place.platform, sender);
    const { clock } = this.#options;
    const busy = id === undefined && (this.#queues.get(keyOf(place))?.length ?? 0) > 0;
    if (busy || rates.take(place.chat, place.isGroup, clock.now()) > 0) return failed("rate", "");
    const message = {
      text: toMarkup(markdown, sender.limits.markup),
      isPlain: false,
      buttons: [],
      nonce: newId().slice(0, 25),
    };
    const usual = (): Promise<Sent> =>
      id === undefined ? sender.send(place.chat, message) : sender.edit(place.chat, id, message);
    const sent = await (isStreamed ? sender.stream?.(place.chat, id, { ...message, markdown }) : usual());
    if (sent === undefined) return failed("refused", "the platform has no streams");
    if (!sent.ok && sent.kind === "rate") rates.pause(sent.retryAfterMs ?? DEFAULT_PAUSE_MS, clock.now());
    return sent;
  }

  /** Edits a message beside the ledger as soon as the rates allow it. Gives up after a while. */
  async editLater(place: Place, id: string, markdown: string): Promise<void> {
    for (let tries = 0; tries < EDIT_TRIES; tries += 1) {
      const sent = await this.preview(place, id, markdown);
      if (sent.ok || (sent.kind !== "rate" && sent.kind !== "unsent")) return;
      await this.#options.clock.wait(EDIT_RETRY_MS, this.#ended.signal).catch(() => undefined);
      if (this.#ended.signal.aborted) return;
    }
  }

  /** The platform is connected. */
  wake(platform: string): void {
    for (const [key, [entry]] of this.#queues) if (entry?.platform === platform) this.#start(key);
  }

  /** Resolves when nothing waits, or at the end of the signal. */
  async drained(signal: AbortSignal): Promise<void> {
    while (this.#running.size > 0 && !signal.aborted) {
      const over = new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      await Promise.race([...this.#running.values(), over]);
    }
  }

  async dispose(): Promise<void> {
    this.#ended.abort(new Error("the gateway ended"));
    await Promise.all(this.#running.values());
  }

  #entry({ platform, chat, isGroup }: Place, text: string): OutgoingEntry {
    const at = this.#options.clock.now();
    this.#count += 1;
    const order = at + (this.#count % 1_000) / 1_000;
    return { id: newId(), platform, chat, isGroup, at, order, text, buttons: [], isDoubtful: false, tries: 0 };
  }

  #queue(entry: OutgoingEntry): void {
    const key = keyOf(entry);
    const queue = this.#queues.get(key) ?? [];
    queue.push(entry);
    this.#queues.set(key, queue);
    this.#start(key);
  }

  #start(key: string): void {
    if (this.#running.has(key) || this.#ended.signal.aborted) return;
    const run = this.#run(key)
      .catch((error: unknown) => {
        if (!this.#ended.signal.aborted) this.#options.log(`outbox: ${String(error)}`);
      })
      .finally(() => {
        this.#running.delete(key);
        // A message may have come while the run ended.
        const [next] = this.#queues.get(key) ?? [];
        if (next !== undefined && this.#options.senderOf(next.platform) !== undefined) this.#start(key);
      });
    this.#running.set(key, run);
  }

  async #run(key: string): Promise<void> {
    const queue = this.#queues.get(key) ?? [];
    let pause = RETRY_MS;
    for (let [entry] = queue; entry !== undefined; [entry] = queue) {
      const sender = this.#options.senderOf(entry.platform);
      if (sender === undefined) return; // `wake` continues
      const pieces = this.#cut(entry, sender.limits);
      if (pieces !== undefined) {
        queue.splice(0, 1, ...pieces);
        continue;
      }
      await this.#waitForTurn(entry, sender);
      const outcome = await this.#try(entry, sender);
      if ("next" in outcome) {
        queue[0] = outcome.next;
        if (outcome.waits) {
          await this.#options.clock.wait(pause, this.#ended.signal);
          pause = Math.min(pause * 2, MAX_RETRY_MS);
        }
        continue;
      }
      pause = RETRY_MS;
      queue.shift();
      this.#options.journal.sent(entry.id);
      this.#ids.get(entry.id)?.(outcome.id);
      this.#ids.delete(entry.id);
    }
    this.#queues.delete(key);
  }

  /** The entry in pieces, which take its place in the journal; undefined for one that fits. */
  #cut(entry: OutgoingEntry, limits: Limits): readonly OutgoingEntry[] | undefined {
    if (entry.file !== undefined || fitsInto(limits)(entry.text)) return undefined;
    const texts = splitMarkdown(entry.text, fitsInto(limits));
    const last = texts.length - 1;
    const pieces = texts.map((text, index): OutgoingEntry => {
      const { replaces, buttons, ...piece } = entry;
      return {
        ...piece,
        text,
        id: index === last ? entry.id : newId(),
        order: entry.order + index / 1_000_000,
        buttons: index === last ? buttons : [],
        ...(index === 0 && replaces !== undefined && { replaces }),
      };
    });
    this.#options.journal.end([], pieces);
    return pieces;
  }

  async #waitForTurn(entry: OutgoingEntry, sender: Sender): Promise<void> {
    const { clock } = this.#options;
    const rates = this.#ratesOf(entry.platform, sender);
    for (;;) {
      const wait = rates.take(entry.chat, entry.isGroup, clock.now());
      if (wait === 0) return;
      await clock.wait(wait, this.#ended.signal);
    }
  }

  /** One try. `next`: the entry for the next try. */
  async #try(entry: OutgoingEntry, sender: Sender): Promise<Tried> {
    const { journal, clock, log } = this.#options;
    if (clock.now() - entry.at > MAX_AGE_MS || (entry.isDoubtful && entry.tries >= MAX_TRIES)) {
      log(`${entry.platform}: a message was given up after ${entry.tries} tries`);
      return { id: undefined };
    }
    journal.sending(entry.id);
    const sent = await this.#send(entry, sender);
    if (sent.ok) return { id: sent.id };
    const isSure = sent.kind !== "unknown";
    const next = { ...entry, tries: isSure ? entry.tries : entry.tries + 1, isDoubtful: !isSure || entry.isDoubtful };
    const again = (changed: OutgoingEntry, waits: boolean) => {
      journal.end([], [changed]);
      return { next: changed, waits };
    };
    switch (sent.kind) {
      case "rate":
        this.#ratesOf(entry.platform, sender).pause(sent.retryAfterMs ?? DEFAULT_PAUSE_MS, clock.now());
        return again(next, false);
      case "gone": {
        const { replaces, ...fresh } = next;
        if (replaces !== undefined) return again(fresh, false);
        break;
      }
      case "unsent":
      case "unknown":
      case "unauthorized":
        return again(next, true);
      case "format":
      case "refused":
        break;
    }
    log(`${entry.platform}: a message was refused (${sent.kind}: ${sent.reason})`);
    return { id: undefined };
  }

  async #send(entry: OutgoingEntry, sender: Sender): Promise<Sent> {
    const { chat, file, replaces, buttons } = entry;
    if (file !== undefined) {
      const bytes = await this.#options.readFile(file).catch(() => undefined);
      if (bytes === undefined) return failed("refused", "the file is gone");
      return sender.sendFile(chat, { name: basename(file), bytes, caption: "" });
    }
    const mark = entry.isDoubtful && replaces === undefined ? DOUBTFUL : "";
    const nonce = entry.id.slice(0, 25);
    const rich = { text: mark + toMarkup(entry.text, sender.limits.markup), isPlain: false, buttons, nonce };
    const one = (message: Outgoing): Promise<Sent> =>
      replaces === undefined ? sender.send(chat, message) : sender.edit(chat, replaces, message);
    const sent = await one(rich);
    if (sent.ok || sent.kind !== "format") return sent;
    return one({ text: mark + entry.text, isPlain: true, buttons, nonce });
  }

  #ratesOf(platform: string, { limits }: Sender): Rates {
    const rates = this.#rates.get(platform) ?? new Rates(limits);
    this.#rates.set(platform, rates);
    return rates;
  }
}

function keyOf({ platform, chat }: Pick<Place, "platform" | "chat">): string {
  return `${platform}:${chat}`;
}

/** Rates of one platform: the next moment at which a message may be sent. */
class Rates {
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
