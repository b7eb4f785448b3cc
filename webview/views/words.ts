/** Numbers as people read them. */

/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 5 min`. */
export function formatDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds >= 3_600) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** `850`, `12k`, `1.2M`. */
export function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 1_000_000) return `${Math.round(count / 1_000)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** A price as `$0.12` or `<$0.01`; undefined when it is unknown or zero. */
export function formatCost(usd: number | undefined): string | undefined {
  if (usd === undefined || usd <= 0) return undefined;
  return usd < 0.01 ? "<$0.01" : `$${usd.toFixed(2)}`;
}
