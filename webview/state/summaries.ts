/** Rows of the transcript. Compressed messages have none: the model gets a summary, and the panel folds them under one line. */
import type { HermesAnchor } from "../../agent-core/protocol/update-meta.ts";
import type { CompressionUpdate } from "./agent-meta.ts";
import { earlierOf } from "./earlier.ts";
import type { CutSummary, Entry, GroupEntry, PanelState, SummaryEntry, ToolEntry } from "./state.ts";
import { isBlank } from "./streamed-text.ts";
import { sealOpen } from "./transcript.ts";

/** Adds the line over the compressed entries. `at`: clock, milliseconds. */
export function addSummary(state: PanelState, update: CompressionUpdate, at: number): PanelState {
  const sealed = sealOpen(state, at);
  const key = `e${sealed.nextKey}`;
  // An unfinished line belongs to an earlier compression, which this one replaces.
  const next = { ...withoutCut(sealed), nextKey: sealed.nextKey + 1 };
  return placeLine(next, { update, key, until: undefined });
}

/** Moves an unfinished line up over the messages that are loaded now. */
export function placeCutSummary(state: PanelState): PanelState {
  const { cutSummary, earlier } = state;
  if (cutSummary === undefined) return state;
  const { update, until } = cutSummary;
  const isKnown = until !== undefined || indexOf(state.entries, update.firstKept) !== undefined;
  // All is loaded without the end of the compressed part: that message was removed.
  if (!isKnown && earlierOf(earlier) === undefined) return { ...state, cutSummary: undefined };
  return placeLine(withoutCut(state), cutSummary);
}

function placeLine(state: PanelState, cut: CutSummary): PanelState {
  const { entries, earlier } = state;
  const { update, key } = cut;
  const isCut = earlierOf(earlier) !== undefined;
  const begin = indexOf(entries, update.first);
  const end = cut.until === undefined ? indexOf(entries, update.firstKept) : indexOfKey(entries, cut.until);
  if (end === undefined && cut.until === undefined && isCut && update.firstKept !== null) {
    return { ...state, cutSummary: cut };
  }
  const first = begin ?? 0;
  // An earlier summary at this point is folded together with its messages.
  const from = entries.findLastIndex((entry, index) => index < first && entry.type !== "summary") + 1;
  const stop = end ?? entries.length;
  if (stop <= from) return isCut ? { ...state, cutSummary: cut } : state;
  const { messages, tokensBefore, tokensAfter, summary } = update;
  const until = entries[stop]?.key ?? cut.until ?? `e${state.nextKey}`;
  const line: SummaryEntry = {
    type: "summary",
    key,
    messages,
    tokensBefore,
    tokensAfter,
    until,
    summary: summary ?? "",
  };
  const shown = { ...state, entries: entries.toSpliced(from, 0, line) };
  return isCut && begin === undefined ? { ...shown, cutSummary: { update, key, until } } : shown;
}

function withoutCut(state: PanelState): PanelState {
  const { cutSummary, entries } = state;
  if (cutSummary === undefined) return state;
  return { ...state, cutSummary: undefined, entries: entries.filter(({ key }) => key !== cutSummary.key) };
}

/** True when all messages of the next page are under a folded line. */
export function hidesNextPage({ cutSummary, openSummaries }: PanelState): boolean {
  return cutSummary?.until !== undefined && !openSummaries.includes(cutSummary.key);
}

export function toggleSummary(state: PanelState, key: string): PanelState {
  const isOpen = state.openSummaries.includes(key);
  const openSummaries = isOpen ? state.openSummaries.filter((open) => open !== key) : [...state.openSummaries, key];
  return { ...state, openSummaries };
}

/** The entries except those under a folded line. */
export function visibleEntries({
  entries,
  openSummaries,
}: Pick<PanelState, "entries" | "openSummaries">): readonly Entry[] {
  if (!entries.some((entry) => entry.type === "summary")) return entries;
  const visible: Entry[] = [];
  /** Key of the entry that ends the folded part. */
  let hiddenUntil: string | undefined;
  for (const entry of entries) {
    if (entry.key === hiddenUntil) hiddenUntil = undefined;
    if (hiddenUntil !== undefined) continue;
    visible.push(entry);
    if (entry.type === "summary" && !openSummaries.includes(entry.key)) hiddenUntil = entry.until;
  }
  return visible;
}

/** Keys of the folded lines that hide an entry. */
export function summariesOver({ entries, openSummaries, open }: PanelState, key: string): readonly string[] {
  const runs = runsOf(entries.filter(isShown), open !== undefined);
  const group = runs.find(({ rows }) => rows.some((entry) => entry.key === key))?.group?.key;
  const groups = group === undefined || openSummaries.includes(group) ? [] : [group];
  const place = indexOfKey(entries, key) ?? entries.length;
  const lines = entries.slice(0, place).filter((entry) => entry.type === "summary");
  const isHiding = (line: SummaryEntry) => place < (indexOfKey(entries, line.until) ?? entries.length);
  const hiding = lines.filter((line) => !openSummaries.includes(line.key) && isHiding(line));
  return [...hiding.map((line) => line.key), ...groups];
}

function indexOfKey(entries: readonly Entry[], key: string): number | undefined {
  const place = entries.findIndex((entry) => entry.key === key);
  return place < 0 ? undefined : place;
}

function indexOf(entries: readonly Entry[], anchor: HermesAnchor | null): number | undefined {
  if (anchor === null) return undefined;
  const place = entries.findIndex((entry) =>
    "position" in anchor
      ? entry.type === "user" && entry.position === anchor.position
      : entry.type === "tool" && entry.id === anchor.toolCallId,
  );
  return place < 0 ? undefined : place;
}

/** Rows of all entries; the growing text has another one. */
export function finishedRows(state: Pick<PanelState, "entries" | "openSummaries" | "open">): readonly Entry[] {
  return runsOf(visibleEntries(state).filter(isShown), state.open !== undefined).flatMap(({ rows, group }) => {
    if (group === undefined) return rows;
    return state.openSummaries.includes(group.key) ? [group, ...rows] : [group];
  });
}

/** Fewer calls stay on their own. */
const MIN_GROUP = 3;

/** Rows in a row that are reads and searches, or are not. `group`: the line over them. */
type RowRun = { readonly rows: readonly Entry[]; readonly group: GroupEntry | undefined };

/** `isFollowed`: another row comes after them. Without one, the last run may still grow and is no group. */
function runsOf(rows: readonly Entry[], isFollowed: boolean): readonly RowRun[] {
  const runs: RowRun[] = [];
  for (let from = 0; from < rows.length; ) {
    const isRunOfLooks = isLook(rows[from]);
    let to = from + 1;
    while (to < rows.length && isLook(rows[to]) === isRunOfLooks) to += 1;
    const run = rows.slice(from, to);
    const calls = run.filter(isLook);
    const [first] = calls;
    const isGroup = calls.length >= MIN_GROUP && (to < rows.length || isFollowed);
    const group = isGroup && first ? ({ type: "group", key: `group:${first.key}`, calls } as const) : undefined;
    runs.push({ rows: run, group });
    from = to;
  }
  return runs;
}

/** True for a read or search that has ended well and has nothing that the user should see. */
function isLook(entry: Entry | undefined): entry is ToolEntry {
  if (entry?.type !== "tool" || entry.status !== "completed" || entry.isMemory || entry.hooks.length > 0) return false;
  const hasPicture = entry.content.some((part) => part.type === "content" && part.content.type === "image");
  return (entry.kind === "read" || entry.kind === "search") && !hasPicture;
}

/** Adds the row of the growing text. Text stops growing with its turn. */
export function withOpen(rows: readonly Entry[], { open, running }: Pick<PanelState, "open" | "running">) {
  if (open === undefined || !isShown(open)) return rows;
  return [...rows, running ? open : { ...open, growing: false }];
}

function isShown(entry: Entry): boolean {
  switch (entry.type) {
    case "answer":
      return !isBlank(entry.text);
    case "tool":
      // The plan has a place of its own above the composer.
      return entry.kind !== "think" || entry.isMemory || entry.status === "failed";
    default:
      return true;
  }
}

/**
 * Id of a thought that stays the same when its session is loaded again: position of the user's message before it, and its
 * number after that message. `key`: of the thought's entry; default: the growing one. Undefined without such a message.
 */
export function thoughtId(entries: readonly Entry[], key: string): string | undefined {
  const place = entries.findLastIndex((entry) => entry.key === key);
  let number = 0;
  for (let index = (place < 0 ? entries.length : place) - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry?.type === "thought") number += 1;
    if (entry?.type === "user") return entry.position === undefined ? undefined : `${entry.position}.${number}`;
  }
  return undefined;
}
