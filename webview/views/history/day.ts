/** When a session was used last, as a list of sessions says it. */

const DAY_MS = 86_400_000;

/** The heading that a time stands under: today, yesterday, this week, then months. Times in milliseconds since 1970. */
export function dayHeading(at: number, now: number): string {
  const days = Math.round((startOfDay(now) - startOfDay(at)) / DAY_MS);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days < 7) return "This week";
  const date = new Date(at);
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return date.toLocaleDateString(undefined, { month: "long", ...(!isThisYear && { year: "numeric" }) });
}

/** The time of day of today's sessions, the day of earlier ones. */
export function shortTime(at: number, now: number): string {
  const date = new Date(at);
  if (startOfDay(at) === startOfDay(now)) {
    return date.toLocaleTimeString(undefined, { hour: "numeric", minute: "2-digit" });
  }
  return date.toLocaleDateString(undefined, { day: "numeric", month: "short" });
}

function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
