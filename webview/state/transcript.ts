/**
 * Entries of the transcript, as an immutable list with an index of its tool calls. At most one text grows, at the end;
 * all entries before it are finished.
 */
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import type { Entry, NoticeEntry, PanelState, RestoredEntry, TextEntry, TurnEndEntry } from "./state.ts";
import { appendText, emptyText } from "./streamed-text.ts";

export type TextChunk = {
  readonly type: TextEntry["type"];
  readonly text: string;
  /** Only for a message of the user. */
  readonly attachments?: readonly Attachment[];
  readonly messageId: string | undefined;
  /** Only for a message of the user. */
  readonly position?: number | undefined;
};

type NewEntry = Omit<NoticeEntry, "key"> | Omit<TurnEndEntry, "key"> | Omit<RestoredEntry, "key">;

const NO_ATTACHMENTS: readonly Attachment[] = [];

/** Appends `chunk` to the growing text, or starts a new text. `at`: clock, milliseconds. */
export function growText(state: PanelState, chunk: TextChunk, at: number): PanelState {
  const { open } = state;
  const { attachments = NO_ATTACHMENTS } = chunk;
  if (open && continues(open, chunk)) {
    const messageId = chunk.messageId ?? open.messageId;
    const all = attachments.length === 0 ? open.attachments : [...open.attachments, ...attachments];
    return { ...state, open: { ...open, messageId, attachments: all, text: appendText(open.text, chunk.text) } };
  }
  if (chunk.text === "" && attachments.length === 0) return state;
  const sealed = sealOpen(state, at);
  return {
    ...sealed,
    nextKey: sealed.nextKey + 1,
    open: {
      type: chunk.type,
      key: `e${sealed.nextKey}`,
      messageId: chunk.messageId,
      position: chunk.position,
      text: appendText(emptyText, chunk.text),
      attachments,
      growing: true,
      startedAt: sealed.running ? at : undefined,
      durationMs: undefined,
    },
  };
}

/** Finishes the growing text, if any, and appends it to the entries. Else it ends a wait that is the last entry. */
export function sealOpen(state: PanelState, at: number): PanelState {
  const { open } = state;
  if (!open) return endWait(state, at);
  const durationMs = open.startedAt === undefined ? undefined : at - open.startedAt;
  return { ...state, open: undefined, entries: withEntry(state.entries, { ...open, growing: false, durationMs }) };
}

/** Stop, or the choice of another model, ends the wait before a retry early. A replay takes no time and changes nothing. */
function endWait(state: PanelState, at: number): PanelState {
  const { entries } = state;
  const last = entries.at(-1);
  if (last?.type !== "notice" || last.retry === undefined) return state;
  const { until, delayMs } = last.retry;
  const passedMs = delayMs - (until - at);
  if (passedMs <= 0 || passedMs >= delayMs) return state;
  const ended = { ...last, retry: { ...last.retry, until: at, delayMs: passedMs } };
  return { ...state, entries: withChanged(entries, entries.length - 1, ended) };
}

export function addEntry(state: PanelState, entry: NewEntry, at: number): PanelState {
  const sealed = sealOpen(state, at);
  const keyed: Entry = { ...entry, key: `e${sealed.nextKey}` };
  return { ...sealed, nextKey: sealed.nextKey + 1, entries: withEntry(sealed.entries, keyed) };
}

/** Records the position of the user's last message. */
export function placeLastPrompt(state: PanelState, position: number): PanelState {
  const place = state.entries.findLastIndex((entry) => entry.type === "user");
  const entry = state.entries[place];
  if (entry?.type !== "user" || entry.position !== undefined) return state;
  return { ...state, entries: withChanged(state.entries, place, { ...entry, position }) };
}

function continues(open: TextEntry, chunk: TextChunk): boolean {
  if (open.type !== chunk.type || open.position !== chunk.position) return false;
  return open.messageId === undefined || chunk.messageId === undefined || open.messageId === chunk.messageId;
}

type Entries = readonly Entry[];

/** Index of each tool call by its id. A list hands it on to its successor, which differs by one entry. */
const callIndexes = new WeakMap<Entries, Map<string, number>>();

/** Appends an entry. Within a batch its cost does not grow with the list. */
export function withEntry<One extends Entry>(entries: readonly One[], entry: One): readonly One[] {
  return withChanged(entries, entries.length, entry);
}

export function indexOfCall(entries: Entries, id: string): number | undefined {
  const known = callIndexes.get(entries);
  if (known) return known.get(id);
  const found = new Map<string, number>();
  for (const [index, entry] of entries.entries()) if (entry.type === "tool") found.set(entry.id, index);
  callIndexes.set(entries, found);
  return found.get(id);
}

/** Replaces the entry at `index`; both are the same tool call, or neither is one. */
export function withChanged<One extends Entry>(entries: readonly One[], index: number, entry: One): readonly One[] {
  const next = ownCopy(entries, (shared): One[] => [...shared]);
  next[index] = entry;
  const known = callIndexes.get(entries);
  if (known === undefined) return next;
  if (entry.type === "tool") known.set(entry.id, index);
  callIndexes.delete(entries);
  callIndexes.set(next, known);
  return next;
}

/** Copies of the current batch. Nobody else has them, so they may change in place. */
let own: WeakSet<object> | undefined;

/** Runs `work` as a batch. Only its result may leave the batch. */
export function asBatch<T>(work: () => T): T {
  own = new WeakSet();
  try {
    return work();
  } finally {
    own = undefined;
  }
}

/** A copy of `value` that may be changed within the batch: `value` itself when the batch has made it. */
export function ownCopy<Shared extends object, Copy extends Shared>(
  value: Shared,
  copy: (value: Shared) => Copy,
): Copy {
  if (own?.has(value)) return value as Copy; // every value in the set is a copy
  const copied = copy(value);
  own?.add(copied);
  return copied;
}
