/** Messages that were taken back leave the panel, and what was compressed with one of them comes back whole. */
import { earlierOf } from "./earlier.ts";
import type { Entry, PanelState } from "./state.ts";
import { sealOpen } from "./transcript.ts";

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
