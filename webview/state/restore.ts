/** Going back to an earlier message: the card that shows what it would do, and what became of it. */
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import { fieldsOf, hermesField, type Meta } from "./agent-meta.ts";
import { earlierOf } from "./earlier.ts";
import { announce, type Entry, type PanelState, type RestoredEntry } from "./state.ts";
import { addEntry, sealOpen } from "./transcript.ts";

/** Shows the card under the message that it belongs to, or takes it away. */
export function previewRestore(
  state: PanelState,
  { position, preview }: Extract<PanelEvent, { kind: "restore-preview" }>,
): PanelState {
  if (preview === null) return state.restore?.position === position ? { ...state, restore: undefined } : state;
  const shown = { ...state, restore: { position, preview } };
  const count = preview.files.filter(({ leftAlone }) => leftAlone === undefined).length;
  return announce(shown, `Restore to here: ${files(count)} would change`);
}

/** Adds the line that tells what was restored; only the last one can be undone. `at`: clock, milliseconds. */
export function addRestored(
  state: PanelState,
  { files: all, isUndo, restoreId }: Extract<PanelEvent, { kind: "restored" }>,
  at: number,
): PanelState {
  const leftAlone = all.filter((file) => file.leftAlone !== undefined);
  const entry: Omit<RestoredEntry, "key"> = {
    type: "restored",
    text: `${isUndo ? "Undid the restore of" : "Restored"} ${files(all.length - leftAlone.length)}`,
    leftAlone,
    restoreId,
  };
  const entries = state.entries.map((earlier) =>
    earlier.type === "restored" ? { ...earlier, restoreId: undefined } : earlier,
  );
  const left = leftAlone.length === 0 ? "" : `, ${files(leftAlone.length)} left alone`;
  return announce(addEntry({ ...state, entries, restore: undefined }, entry, at), `${entry.text}${left}`);
}

/** Takes messages back when `_meta.hermes.rewound` says so. */
export function rewound(state: PanelState, meta: Meta, at: number): PanelState {
  const { position } = fieldsOf(hermesField(meta, "rewound"));
  if (typeof position !== "number") return state;
  return { ...rewindTo(state, position, at), restore: undefined };
}

function files(count: number): string {
  return count === 1 ? "1 file" : `${count} files`;
}

/** Messages that were taken back leave the panel, and what was compressed with one of them comes back whole. */

/** Leaves out the message of the user's at this position and all that followed. `at`: clock, milliseconds. */
export function rewindTo(state: PanelState, position: number, at: number): PanelState {
  const sealed = sealOpen(state, at);
  const earlier = earlierOf(sealed.earlier);
  if (earlier !== undefined && position < earlier.before) return leaveOnlyEarlier(sealed, earlier.messages, position);
  const isTakenBack = (entry: Entry): boolean => entry.type === "user" && (entry.position ?? -1) >= position;
  const place = sealed.entries.findIndex(isTakenBack);
  return place < 0 ? sealed : cutAt(sealed, place);
}

/** Nothing that was shown is left; of what is earlier nobody knows the number until the next page comes. */
function leaveOnlyEarlier(state: PanelState, messages: number, position: number): PanelState {
  const { cutSummary } = state;
  return {
    ...state,
    entries: [],
    earlier:
      position === 0
        ? { type: "none-left" }
        : { type: "there", before: position, messages: Math.min(messages, position) },
    cutSummary: cutSummary?.until === undefined ? cutSummary : undefined,
  };
}

function cutAt(state: PanelState, place: number): PanelState {
  const left = state.entries.slice(0, place);
  const keys = new Set(left.map(({ key }) => key));
  /** Key of what will stand next, where a line still holds because its messages are all left. */
  const next = `e${state.nextKey}`;
  const isNext = (until: string): boolean => until === state.entries[place]?.key;
  const moved = (until: string): string => (isNext(until) ? next : until);
  const stands = (until: string): boolean => keys.has(until) || isNext(until);
  const { cutSummary } = state;
  const cutUntil = cutSummary?.until;
  const cut =
    cutSummary === undefined || cutUntil === undefined ? cutSummary : { ...cutSummary, until: moved(cutUntil) };
  return {
    ...state,
    entries: left.flatMap((entry): readonly Entry[] => {
      if (entry.type !== "summary") return [entry];
      return stands(entry.until) ? [{ ...entry, until: moved(entry.until) }] : [];
    }),
    cutSummary: cutUntil === undefined || stands(cutUntil) ? cut : undefined,
  };
}
