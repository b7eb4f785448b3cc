/** What a session has cost, in words. */

/** `$0.12`, `<$0.01`; undefined when it is unknown, or nothing. */
export function sessionCost(usd: number | undefined): string | undefined {
  if (usd === undefined || usd <= 0) return undefined;
  if (usd < 0.01) return "<$0.01";
  return `$${usd.toFixed(2)}`;
}
