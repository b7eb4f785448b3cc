/** How full the model's window is, and what the session has cost. */
import type { UsageState } from "../state/state.ts";
import { formatCount } from "./words.ts";

export function UsageMeter({ usage: { used, size, cost } }: { readonly usage: UsageState }) {
  const share = size > 0 ? Math.min(100, Math.round((used / size) * 100)) : 0;
  const price = cost ? ` · ${cost.amount.toFixed(2)} ${cost.currency}` : "";
  const words = `Context: ${formatCount(used)} of ${formatCount(size)} tokens (${share} %)${price}`;
  return (
    <span class="usage" title={words}>
      <meter min={0} max={100} value={share} aria-label={words} />
      {share}%
    </span>
  );
}
