/** Older messages that gave way to a summary for the model: here they stay, folded away under one line. */
import type { Entry, PanelState, SummaryEntry } from "./state.ts";
import { sealOpen } from "./transcript.ts";

/** A message of the user's by its position, or a tool call by its id. */
type Anchor = { readonly position: number } | { readonly toolCallId: string };

/** What our agent says of a compression: `_meta.hermes.compression`. */
export type CompressionUpdate = {
  readonly messages: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly summary: string | null;
  /** What it begins with; where it ends, and the model sees the messages themselves again. */
  readonly first: Anchor | null;
  readonly firstKept: Anchor | null;
};

/** Undefined for an update that tells of no compression. */
export function compressionIn(
  meta: Readonly<Record<string, unknown>> | null | undefined,
): CompressionUpdate | undefined {
  const hermes = meta?.["hermes"];
  if (typeof hermes !== "object" || hermes === null || !("compression" in hermes)) return undefined;
  // Of our own agent, whose type this is; another one has no such field.
  return hermes.compression as CompressionUpdate;
}

/** Adds the line that the compressed entries are folded under. `at`: clock, milliseconds. */
export function addSummary(state: PanelState, update: CompressionUpdate, at: number): PanelState {
  const sealed = sealOpen(state, at);
  const { entries } = sealed;
  const first = placeOf(entries, update.first) ?? 0;
  // An earlier line that stands there is folded away with what is under it.
  const from = entries.findLastIndex((entry, index) => index < first && entry.type !== "summary") + 1;
  const until = placeOf(entries, update.firstKept) ?? entries.length;
  if (until <= from) return sealed;
  const entry: SummaryEntry = {
    type: "summary",
    key: `e${sealed.nextKey}`,
    messages: update.messages,
    tokensBefore: update.tokensBefore,
    tokensAfter: update.tokensAfter,
    summary: update.summary ?? "",
    until: entries[until]?.key ?? `e${sealed.nextKey + 1}`,
  };
  return { ...sealed, nextKey: sealed.nextKey + 1, entries: entries.toSpliced(from, 0, entry) };
}

/** Opens a line that is closed, closes one that is open. */
export function toggleSummary(state: PanelState, key: string): PanelState {
  const isOpen = state.openSummaries.includes(key);
  const openSummaries = isOpen ? state.openSummaries.filter((open) => open !== key) : [...state.openSummaries, key];
  return { ...state, openSummaries };
}

/** The entries that are to be seen: those under a closed line are not. */
export function visibleEntries({
  entries,
  openSummaries,
}: Pick<PanelState, "entries" | "openSummaries">): readonly Entry[] {
  if (!entries.some((entry) => entry.type === "summary")) return entries;
  const visible: Entry[] = [];
  /** Key of the entry before which nothing is to be seen. */
  let hiddenUntil: string | undefined;
  for (const entry of entries) {
    if (entry.key === hiddenUntil) hiddenUntil = undefined;
    if (hiddenUntil !== undefined) continue;
    visible.push(entry);
    if (entry.type === "summary" && !openSummaries.includes(entry.key)) hiddenUntil = entry.until;
  }
  return visible;
}

function placeOf(entries: readonly Entry[], anchor: Anchor | null): number | undefined {
  if (anchor === null) return undefined;
  const place = entries.findIndex((entry) =>
    "position" in anchor
      ? entry.type === "user" && entry.position === anchor.position
      : entry.type === "tool" && entry.id === anchor.toolCallId,
  );
  return place < 0 ? undefined : place;
}
