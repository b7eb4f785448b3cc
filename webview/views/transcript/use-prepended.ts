/** Lets the list keep its place when earlier messages are put before it. */
import { useLayoutEffect, useReducer, useRef } from "preact/hooks";
import type { EarlierState, Entry } from "../../state/state.ts";

export type Prepended = {
  readonly rows: readonly Entry[];
  /** The rows are those of the drawing before, with others before them and nothing else new. */
  readonly shift: boolean;
};

/**
 * What has come at the end at the same time is shown with the next drawing, at once: the list takes all rows that are
 * new in one drawing for earlier ones, or none.
 */
export function usePrepended(all: readonly Entry[], earlier: EarlierState | undefined): Prepended {
  const before = useRef({ rows: all, earlier });
  const [, drawAgain] = useReducer((count: number) => count + 1, 0);
  const last = before.current.rows.at(-1)?.key;
  const place = earlier === before.current.earlier ? -1 : all.findLastIndex(({ key }) => key === last);
  const shift = place >= before.current.rows.length;
  const rows = shift ? all.slice(0, place + 1) : all;
  const isPart = rows.length < all.length;
  useLayoutEffect(() => {
    before.current = { rows, earlier };
    if (isPart) drawAgain(undefined);
  });
  return { rows: isPart ? rows : all, shift };
}
