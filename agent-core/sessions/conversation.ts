/**
 * A conversation as it stands: everything that was said, without what was taken back, and with a summary where older
 * messages gave way to one. A running agent and a journal that is read back build it by the same steps.
 */
import type { Message } from "../messages/message.ts";
import { type JournalEntry, messageIn } from "./entry.ts";
import { type ShownAs, shownAs } from "./shown-message.ts";

/** Around a summary, so that a model never takes it for the user's words; behaviour.md §Context. */
const SUMMARY_END = "[END COMPRESSED]";

/** A message and its place among all that were ever said in the session, from 0; a place is never used twice. */
export type Said = {
  readonly position: number;
  readonly role: Message["role"];
  readonly shownAs: ShownAs;
  /** An answer that was broken off: no model gets it. */
  readonly isUnfinished: boolean;
  /** Of what the model no longer gets: read from the journal each time that it is asked for, where there is one. */
  readonly message: Message;
};

/** From the first to the last position, both included. */
export type PositionRange = readonly [first: number, last: number];

/** What the model gets instead of older messages. A later one replaces an earlier one as a whole. */
export type Compression = {
  /** Messages that the model no longer gets, in order and apart from each other. */
  readonly dropped: readonly PositionRange[];
  /** Stands where the first of them was; null: nothing does. */
  readonly summary: string | null;
  /** Tool results that gave way to a shorter text. */
  readonly shortened: readonly { readonly position: number; readonly content: string }[];
};

/** Reads its entry in a journal again. */
export type StoredMessage = { read(): JournalEntry | undefined };

/** Something said that is let go of while the model does not get it. */
class Remembered implements Said {
  readonly position: number;
  readonly role: Message["role"];
  readonly shownAs: ShownAs;
  readonly isUnfinished: boolean;
  #message: Message | undefined;
  readonly #stored: StoredMessage | undefined;

  constructor(position: number, message: Message, stored: StoredMessage | undefined) {
    this.position = position;
    this.role = message.role;
    this.shownAs = shownAs(message);
    this.isUnfinished = message.role === "assistant" && message.unfinished !== undefined;
    this.#message = message;
    this.#stored = stored;
  }

  get message(): Message {
    return this.#message ?? messageIn(this.#stored?.read());
  }

  /** Gives the message, and keeps it from now on. */
  hold(): Message {
    this.#message = this.message;
    return this.#message;
  }

  release(): void {
    if (this.#stored !== undefined) this.#message = undefined;
  }
}

export class Conversation {
  #said: Remembered[] = [];
  #next = 0;
  #compressions: Compression[] = [];
  /** What the model gets; grows with each message, and is made anew when it is asked for after anything else. */
  #view: Message[] | undefined;

  /** Position that the next message will have. */
  get next(): number {
    return this.#next;
  }

  /** What the model gets. */
  get messages(): readonly Message[] {
    this.#view ??= this.#viewed();
    return this.#view;
  }

  /** All that was said and not taken back, compressed or not. */
  get said(): readonly Said[] {
    return this.#said;
  }

  /** Undefined while nothing is compressed. */
  get compression(): Compression | undefined {
    return this.#compressions.at(-1);
  }

  /**
   * Adds a message and gives its position. `position`: where a journal says it stood, never before `next`. When it is
   * `stored`, it takes no memory while the model does not get it.
   */
  append(message: Message, position = this.#next, stored?: StoredMessage): number {
    const place = Math.max(position, this.#next);
    const said = new Remembered(place, message, stored);
    this.#said.push(said);
    this.#next = place + 1;
    if (said.isUnfinished) said.release();
    else this.#view?.push(message);
    return place;
  }

  /** Takes back every message from position `keep` on. What was compressed with one of them comes back whole. */
  rewind(keep: number): void {
    this.#said = this.#said.filter(({ position }) => position < keep);
    this.#compressions = this.#compressions.filter((compression) => endOf(compression) < keep);
    this.#view = undefined;
  }

  compress(compression: Compression): void {
    const before = lastDropped(this.compression);
    this.#compressions.push(compression);
    this.#view = undefined;
    this.#releaseBehind(before, lastDropped(compression));
  }

  /** What a compression drops beyond the one before it; the rest is let go of when the view is made. */
  #releaseBehind(before: number, last: number): void {
    for (let index = this.#said.length - 1; index >= 0; index -= 1) {
      const said = this.#said[index];
      if (said === undefined || said.position <= before) return;
      if (said.position <= last) said.release();
    }
  }

  #viewed(): Message[] {
    const { compression } = this;
    const sent = this.#said.filter(({ isUnfinished }) => !isUnfinished);
    return compression === undefined ? sent.map((said) => said.hold()) : compressed(sent, compression);
  }
}

/** How many messages a compression leaves out. */
export function droppedCount({ dropped }: Pick<Compression, "dropped">): number {
  return dropped.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

function compressed(all: readonly Remembered[], compression: Compression): Message[] {
  const { dropped, summary, shortened } = compression;
  const contents = new Map(shortened.map(({ position, content }) => [position, content]));
  const view: Message[] = [];
  let range = 0;
  let isSummarized = summary === null;
  for (const said of all) {
    const { position } = said;
    while ((dropped[range]?.[1] ?? Number.POSITIVE_INFINITY) < position) range++;
    const isDropped = (dropped[range]?.[0] ?? Number.POSITIVE_INFINITY) <= position;
    if (isDropped) said.release();
    if (isDropped && isSummarized) continue;
    if (isDropped) {
      view.push({ role: "user", content: framed(summary ?? "", droppedCount(compression)), synthetic: true });
      isSummarized = true;
      continue;
    }
    const content = contents.get(position);
    view.push(content === undefined ? said.hold() : shortenedTo(said, content));
  }
  return view;
}

function shortenedTo(said: Remembered, content: string): Message {
  const { message } = said;
  if (message.role !== "tool") return said.hold();
  said.release();
  return { ...message, content };
}

function framed(summary: string, count: number): string {
  return `[COMPRESSED: ${count} messages summarized]\n${summary}\n${SUMMARY_END}`;
}

function lastDropped(compression: Compression | undefined): number {
  return compression?.dropped.at(-1)?.[1] ?? -1;
}

function endOf({ dropped, shortened }: Compression): number {
  return Math.max(-1, ...dropped.map(([, last]) => last), ...shortened.map(({ position }) => position));
}
