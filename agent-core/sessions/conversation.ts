/**
 * A conversation as it stands: everything that was said, without what was taken back, and with a summary where older
 * messages gave way to one. A running agent and a journal that is read back build it by the same steps.
 */
import type { Message } from "../messages/message.ts";

/** Around a summary, so that a model never takes it for the user's words; behaviour.md §Context. */
const SUMMARY_END = "[END COMPRESSED]";

/** A message and its place among all that were ever said in the session, from 0; a place is never used twice. */
export type Said = { readonly position: number; readonly message: Message };

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

export class Conversation {
  #said: Said[] = [];
  #next = 0;
  #compressions: Compression[] = [];
  /** What the model gets; grows with each message, and is made anew after a compression or a rewind. */
  #view: Message[] = [];

  /** Position that the next message will have. */
  get next(): number {
    return this.#next;
  }

  /** What the model gets. */
  get messages(): readonly Message[] {
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

  /** Adds a message and gives its position. `position`: where a journal says it stood, never before `next`. */
  append(message: Message, position = this.#next): number {
    const place = Math.max(position, this.#next);
    this.#said.push({ position: place, message });
    this.#next = place + 1;
    this.#view.push(message);
    return place;
  }

  /** Takes back every message from position `keep` on. What was compressed with one of them comes back whole. */
  rewind(keep: number): void {
    this.#said = this.#said.filter(({ position }) => position < keep);
    this.#compressions = this.#compressions.filter((compression) => endOf(compression) < keep);
    this.#view = this.#viewed();
  }

  compress(compression: Compression): void {
    this.#compressions.push(compression);
    this.#view = this.#viewed();
  }

  #viewed(): Message[] {
    const { compression } = this;
    return compression === undefined ? this.#said.map(({ message }) => message) : compressed(this.#said, compression);
  }
}

/** How many messages a compression leaves out. */
export function droppedCount({ dropped }: Pick<Compression, "dropped">): number {
  return dropped.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

function compressed(said: readonly Said[], compression: Compression): Message[] {
  const { dropped, summary, shortened } = compression;
  const contents = new Map(shortened.map(({ position, content }) => [position, content]));
  const view: Message[] = [];
  let range = 0;
  let isSummarized = summary === null;
  for (const { position, message } of said) {
    while ((dropped[range]?.[1] ?? Number.POSITIVE_INFINITY) < position) range++;
    const isDropped = (dropped[range]?.[0] ?? Number.POSITIVE_INFINITY) <= position;
    if (isDropped && isSummarized) continue;
    if (isDropped) {
      view.push({ role: "user", content: framed(summary ?? "", droppedCount(compression)), synthetic: true });
      isSummarized = true;
      continue;
    }
    const content = contents.get(position);
    view.push(content !== undefined && message.role === "tool" ? { ...message, content } : message);
  }
  return view;
}

function framed(summary: string, count: number): string {
  return `[COMPRESSED: ${count} messages summarized]\n${summary}\n${SUMMARY_END}`;
}

function endOf({ dropped, shortened }: Compression): number {
  return Math.max(-1, ...dropped.map(([, last]) => last), ...shortened.map(({ position }) => position));
}
