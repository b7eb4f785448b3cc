/**
 * A conversation without the messages that the user took back, and with a summary in place of compressed ones. A
 * running agent and a journal reader build it by the same rules.
 */
import { type Message, type UserMessage, withContent } from "../messages/message.ts";
import { type JournalEntry, messageIn } from "./entry.ts";
import { type ShownAs, shownAs } from "./shown-message.ts";

/** The marks around a summary keep a model from reading it as the user's words. */
const SUMMARY_END = "[END COMPRESSED]";
/** Part of an answer that was cut off in the note about it: its end. Characters. */
const MAX_NOTED_CHARS = 2_000;

/** A message and its position in the session, counted from 0. A position is never used twice. */
export type TranscriptEntry = {
  readonly position: number;
  readonly role: Message["role"];
  readonly shownAs: ShownAs;
  /** True for an answer that was cut off. No model gets it; the next prompt has a note with its end. */
  readonly isCutOff: boolean;
  /** The text of a compressed message is read from the journal on each access, if the session has one. */
  readonly message: Message;
};

/** Both ends are included. */
export type PositionRange = readonly [first: number, last: number];

/** The replacement of older messages. A later compression replaces an earlier one as a whole. */
export type Compression = {
  /** Messages that the model no longer gets, in order and without overlap. */
  readonly dropped: readonly PositionRange[];
  /** Text at the position of the first dropped message; null: no text. */
  readonly summary: string | null;
  /** Results that a shorter text replaces, and messages that a provider refused. */
  readonly shortened: readonly { readonly position: number; readonly content: string }[];
};

/** Reads the entry from a journal again. */
export type StoredMessage = { read(): JournalEntry | undefined };

/** A message that memory releases while the model does not get it. */
class ReleasableMessage implements TranscriptEntry {
  readonly position: number;
  readonly role: Message["role"];
  readonly shownAs: ShownAs;
  readonly isCutOff: boolean;
  #message: Message | undefined;
  readonly #stored: StoredMessage | undefined;

  constructor(position: number, message: Message, stored: StoredMessage | undefined) {
    this.position = position;
    this.role = message.role;
    this.shownAs = shownAs(message);
    this.isCutOff = message.role === "assistant" && message.unfinished !== undefined;
    this.#message = message;
    this.#stored = stored;
  }

  get message(): Message {
    return this.#message ?? messageIn(this.#stored?.read());
  }

  /** Returns the message, and keeps it in memory from now on. */
  hold(): Message {
    this.#message = this.message;
    return this.#message;
  }

  release(): void {
    if (this.#stored !== undefined) this.#message = undefined;
  }
}

export class Conversation {
  #transcript: ReleasableMessage[] = [];
  #next = 0;
  /** Positions of the first requests, by the positions of those that ask again. */
  readonly #origins = new Map<number, number>();
  /** Origin of the next message, after a rewind for a retry. */
  #retried: number | undefined;
  #compressions: Compression[] = [];
  /** State before the last rewind, until the next message. */
  #taken: { readonly transcript: ReleasableMessage[]; readonly compressions: Compression[] } | undefined;
  /** Ends of cut-off answers, by the positions of the prompts that follow them. */
  readonly #notes = new Map<number, string>();
  /** Cache of the model's messages. An appended message extends it; any other change drops it. */
  #view: Message[] | undefined;
  /** Positions of the messages that the model gets. */
  readonly #positions = new WeakMap<Message, number>();

  /** Position of the next message. */
  get next(): number {
    return this.#next;
  }

  get messages(): readonly Message[] {
    this.#view ??= this.#viewed();
    return this.#view;
  }

  /** All messages that were not taken back, compressed or not. */
  get transcript(): readonly TranscriptEntry[] {
    return this.#transcript;
  }

  get compression(): Compression | undefined {
    return this.#compressions.at(-1);
  }

  /**
   * Adds a message and returns its position. `position` is the journal's value and at least `next`. A `stored` message
   * takes no memory while the model does not get it.
   */
  append(message: Message, position = this.#next, stored?: StoredMessage): number {
    this.#taken = undefined;
    const place = Math.max(position, this.#next);
    const entry = new ReleasableMessage(place, message, stored);
    const cutOff = entry.shownAs === "prompt" ? this.#cutOffBefore() : undefined;
    const isWhole = (cutOff?.length ?? 0) <= MAX_NOTED_CHARS;
    if (cutOff) this.#notes.set(place, isWhole ? cutOff : `…${cutOff.slice(1 - MAX_NOTED_CHARS)}`.toWellFormed());
    this.#transcript.push(entry);
    if (this.#retried !== undefined) this.#origins.set(place, this.#retried);
    this.#retried = undefined;
    this.#next = place + 1;
    if (entry.isCutOff) entry.release();
    else this.#view?.push(this.#sent(entry, message));
    return place;
  }

  /** Text of a cut-off answer at the end of the conversation. */
  #cutOffBefore(): string | undefined {
    const last = this.#transcript.findLast(({ role, shownAs }) => role !== "user" || shownAs !== null);
    if (last?.isCutOff !== true) return undefined;
    const { message } = last;
    return message.role === "assistant" ? (message.content ?? undefined) : undefined;
  }

  /** Position of one of `messages`; undefined for any other message. */
  positionOf(message: Message): number | undefined {
    return this.#positions.get(message);
  }

  /** The message as the model gets it. "Continue" and "not like that" are about a cut-off answer. */
  #sent({ position }: TranscriptEntry, message: Message): Message {
    const end = this.#notes.get(position);
    const sent = end === undefined || message.role !== "user" ? message : withNote(message, end);
    this.#positions.set(sent, position);
    return sent;
  }

  /** Releases the messages that a journal holds, until somebody reads them. */
  rest(): void {
    for (const entry of this.#transcript) entry.release();
    this.#view = undefined;
  }

  /** Position of the request that the message at `position` asked first: another one only after a retry. */
  originOf(position: number): number {
    return this.#origins.get(position) ?? position;
  }

  /**
   * Takes back all messages from position `keep` on. A compression that covers one of them is undone. `isRetry`: the next
   * message asks the one at `keep` again.
   */
  rewind(keep: number, isRetry = false): void {
    this.#retried = isRetry ? this.originOf(keep) : undefined;
    this.#taken = { transcript: this.#transcript, compressions: this.#compressions };
    this.#transcript = this.#transcript.filter(({ position }) => position < keep);
    this.#compressions = this.#compressions.filter(({ dropped, shortened }) =>
      [...dropped.map(([, last]) => last), ...shortened.map(({ position }) => position)].every((end) => end < keep),
    );
    this.#view = undefined;
  }

  /** Takes the last rewind back. Returns the positions that returned: none when a message came after it. */
  unrewind(): readonly PositionRange[] {
    const taken = this.#taken;
    this.#taken = undefined;
    this.#retried = undefined;
    if (taken === undefined) return [];
    const left = this.#transcript.length;
    this.#transcript = taken.transcript;
    this.#compressions = taken.compressions;
    this.#view = undefined;
    return rangesOf(taken.transcript.slice(left).map(({ position }) => position));
  }

  compress(compression: Compression): void {
    this.#taken = undefined;
    const before = lastDropped(this.compression);
    this.#compressions.push(compression);
    this.#view = undefined;
    this.#releaseBehind(before, lastDropped(compression));
  }

  /** Releases the messages that the last compression drops beyond the one before it. The view releases the rest. */
  #releaseBehind(before: number, last: number): void {
    for (let index = this.#transcript.length - 1; index >= 0; index -= 1) {
      const entry = this.#transcript[index];
      if (entry === undefined || entry.position <= before) return;
      if (entry.position <= last) entry.release();
    }
  }

  #viewed(): Message[] {
    const { compression } = this;
    const shown = this.#transcript.filter(({ isCutOff }) => !isCutOff);
    const hold = (entry: ReleasableMessage): Message => this.#sent(entry, entry.hold());
    return compression === undefined ? shown.map(hold) : compressed(shown, compression, hold);
  }
}

function withNote({ content, ...message }: UserMessage, end: string): UserMessage {
  const note = `[The answer before this message was cut off, and is not part of the conversation. The user saw its text, which ended with:\n${end}]`;
  if (typeof content === "string") return { ...message, content: `${note}\n\n${content}` };
  return { ...message, content: [{ type: "text", text: note }, ...content] };
}

function rangesOf(positions: readonly number[]): readonly PositionRange[] {
  const ranges: [number, number][] = [];
  for (const position of positions) {
    const last = ranges.at(-1);
    if (last?.[1] === position - 1) last[1] = position;
    else ranges.push([position, position]);
  }
  return ranges;
}

/** Count of messages that a compression drops. */
export function droppedCount({ dropped }: Pick<Compression, "dropped">): number {
  return dropped.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

function compressed(
  all: readonly ReleasableMessage[],
  compression: Compression,
  hold: (entry: ReleasableMessage) => Message,
): Message[] {
  const { dropped, summary, shortened } = compression;
  const contents = new Map(shortened.map(({ position, content }) => [position, content]));
  const view: Message[] = [];
  let range = 0;
  let isSummarized = summary === null;
  for (const entry of all) {
    const { position } = entry;
    while ((dropped[range]?.[1] ?? Number.POSITIVE_INFINITY) < position) range++;
    const isDropped = (dropped[range]?.[0] ?? Number.POSITIVE_INFINITY) <= position;
    if (isDropped) entry.release();
    if (isDropped && isSummarized) continue;
    if (isDropped) {
      const head = `[COMPRESSED: ${droppedCount(compression)} messages summarized]`;
      view.push({ role: "user", content: [head, summary ?? "", SUMMARY_END].join("\n"), synthetic: true });
      isSummarized = true;
      continue;
    }
    const content = contents.get(position);
    view.push(content === undefined ? hold(entry) : shortenedTo(entry, content));
  }
  return view;
}

function shortenedTo(entry: ReleasableMessage, content: string): Message {
  const { message } = entry;
  entry.release();
  return withContent(message, content);
}

function lastDropped(compression: Compression | undefined): number {
  return compression?.dropped.at(-1)?.[1] ?? -1;
}
