/** Restores: their previews and results, and the removal of messages. */
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import { t } from "../texts.ts";
import { earlierOf } from "./earlier.ts";
import { announce, type Entry, type PanelState, type RestoredEntry } from "./state.ts";
import { addEntry, sealOpen } from "./transcript.ts";

/** Shows or removes the preview under its message. */
export function previewRestore(
  state: PanelState,
  { position, preview }: Extract<PanelEvent, { kind: "restore-preview" }>,
): PanelState {
  if (preview === null) return state.restore?.position === position ? { ...state, restore: undefined } : state;
  const shown = { ...state, restore: { position, preview } };
  const count = preview.files.filter(({ leftAlone }) => leftAlone === undefined).length;
  // Not that they would be restored: the preview is also a part of the editor of a message.
  return announce(
    shown,
    count === 1 ? t("1 file has changed since then") : t("{0} files have changed since then", count),
  );
}

/** Adds a line about the restore; only the last restore can be undone. `at`: clock, milliseconds. */
export function addRestored(
  state: PanelState,
  { files: all, limits = [], isUndo, hasConversation, restoreId }: Extract<PanelEvent, { kind: "restored" }>,
  at: number,
): PanelState {
  const leftAlone = all.filter((file) => file.leftAlone !== undefined);
  const changed = all.length - leftAlone.length;
  const entry: Omit<RestoredEntry, "key"> = {
    type: "restored",
    text: restoredText(changed > 0 || !hasConversation ? files(changed) : undefined, hasConversation, isUndo),
    leftAlone,
    limits,
    restoreId,
  };
  const entries = state.entries.map((earlier) =>
    earlier.type === "restored" ? { ...earlier, restoreId: undefined } : earlier,
  );
  const left = leftAlone.length === 0 ? entry.text : t("{0}, {1} skipped", entry.text, files(leftAlone.length));
  return announce(addEntry({ ...state, entries, restore: undefined }, entry, at), left);
}

/** `changed`: number of changed files in words. */
function restoredText(changed: string | undefined, hasConversation: boolean, isUndo: boolean): string {
  if (changed === undefined) {
    return isUndo ? t("Undid the restore of the conversation") : t("Restored the conversation");
  }
  if (!hasConversation) return isUndo ? t("Undid the restore of {0}", changed) : t("Restored {0}", changed);
  return isUndo
    ? t("Undid the restore of {0} and the conversation", changed)
    : t("Restored {0} and the conversation", changed);
}

function files(count: number): string {
  return count === 1 ? t("1 file") : t("{0} files", count);
}

/**
 * Removes the user's message at this position and all after it. A summary that covered one of them disappears and shows
 * its other messages again. `at`: clock, milliseconds.
 */
export function rewindTo(state: PanelState, position: number, at: number): PanelState {
  const sealed = sealOpen(state, at);
  const earlier = earlierOf(sealed.earlier);
  if (earlier !== undefined && position < earlier.before) return leaveOnlyEarlier(sealed, earlier.messages, position);
  const isRemoved = (entry: Entry): boolean => entry.type === "user" && (entry.position ?? -1) >= position;
  const index = sealed.entries.findIndex(isRemoved);
  return index < 0 ? sealed : cutAt(sealed, index);
}

/** Removes all entries. The number of earlier messages is an estimate until the next page. */
function leaveOnlyEarlier(state: PanelState, messages: number, position: number): PanelState {
  const { cutSummary } = state;
  return {
    ...state,
    entries: [],
    earlier:
      position === 0
        ? { type: "none-left" }
        : { type: "available", before: position, messages: Math.min(messages, position) },
    cutSummary: cutSummary?.until === undefined ? cutSummary : undefined,
  };
}

function cutAt(state: PanelState, end: number): PanelState {
  const left = state.entries.slice(0, end);
  const keys = new Set(left.map(({ key }) => key));
  // A summary of remaining messages only now ends at the next entry.
  const next = `e${state.nextKey}`;
  const isNext = (until: string): boolean => until === state.entries[end]?.key;
  const moved = (until: string): string => (isNext(until) ? next : until);
  const remains = (until: string): boolean => keys.has(until) || isNext(until);
  const { cutSummary } = state;
  const cutUntil = cutSummary?.until;
  const cut =
    cutSummary === undefined || cutUntil === undefined ? cutSummary : { ...cutSummary, until: moved(cutUntil) };
  return {
    ...state,
    entries: left.flatMap((entry): readonly Entry[] => {
      if (entry.type !== "summary") return [entry];
      return remains(entry.until) ? [{ ...entry, until: moved(entry.until) }] : [];
    }),
    cutSummary: cutUntil === undefined || remains(cutUntil) ? cut : undefined,
  };
}
