/** Running time that counts by itself. */
import { useEffect, useState } from "preact/hooks";
import { t } from "../texts.ts";
import { formatDuration } from "./format.ts";

const TICK_MS = 1_000;

/** The time of `clock`, in milliseconds, each second anew until `isOver`. */
export function useNow(clock: () => number, isOver = false): number {
  const [now, setNow] = useState(clock);
  useEffect(() => {
    if (isOver) return undefined;
    setNow(clock);
    const timer = setInterval(() => setNow(clock), TICK_MS);
    return () => clearInterval(timer);
  }, [clock, isOver]);
  return now;
}

/** `since`: milliseconds since 1970. */
export function Elapsed({ since }: { readonly since: number }) {
  const seconds = Math.max(0, Math.round((useNow(Date.now) - since) / 1_000));
  return <span class="process-note">{seconds < 10 ? t("{0} s", seconds) : formatDuration(seconds * 1_000)}</span>;
}
