/** Running time that counts by itself. */
import { useEffect, useState } from "preact/hooks";
import { t } from "../texts.ts";
import { formatDuration } from "./format.ts";

const TICK_MS = 1_000;

/** `since`: milliseconds since 1970. */
export function Elapsed({ since }: { readonly since: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((now - since) / 1_000));
  return <span class="process-note">{seconds < 10 ? t("{0} s", seconds) : formatDuration(seconds * 1_000)}</span>;
}
