/** How full the model's window is, and what the session has cost. */
import type { ContextPressure } from "../state/context-pressure.ts";
import type { UsageState } from "../state/state.ts";
import { formatCount } from "./words.ts";

const consequences: Readonly<Record<ContextPressure, string>> = {
  low: "",
  high: "\nIt fills up: older messages will soon give way to a summary.",
  full: "\nIt is full, and nothing more can give way: tools with long results are withheld. Begin a new session.",
};

export function UsageMeter({ usage: { used, size, cost, pressure } }: { readonly usage: UsageState }) {
  const share = size > 0 ? Math.min(100, Math.round((used / size) * 100)) : 0;
  const price = cost ? ` · ${cost.amount.toFixed(2)} ${cost.currency}` : "";
  const words = `Context: ${formatCount(used)} of ${formatCount(size)} tokens (${share} %)${price}${consequences[pressure]}`;
  return (
    <span class={`usage usage-${pressure}`} title={words}>
      <meter min={0} max={100} value={share} aria-label={words} />
      {share}%
    </span>
  );
}
