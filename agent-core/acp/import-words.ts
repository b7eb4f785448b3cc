/** What came of an import, in words. */
import type { ImportReport } from "../sessions/import/import-sessions.ts";

/** Failures named one by one. */
const NAMED_FAILURES = 5;

/** One paragraph; failures have a line each. */
export function importWords({ imported, extended, unchanged, diverged, deleted, failed }: ImportReport): string {
  const facts = [
    counted(imported, "was imported", "were imported"),
    counted(extended, "has gone on there and was extended", "have gone on there and were extended"),
    counted(unchanged, "is here already", "are here already"),
    counted(diverged, "went on here and stays as it is", "went on here and stay as they are"),
    counted(deleted, "was skipped because it was deleted here", "were skipped because they were deleted here"),
    counted(failed.length, "could not be imported", "could not be imported"),
  ].filter((fact) => fact !== undefined);
  if (facts.length === 0) return "There is no session to import.";
  const named = failed.slice(0, NAMED_FAILURES).map(({ id, why }) => `- ${id}: ${why}`);
  const more = failed.length > NAMED_FAILURES ? [`- and ${failed.length - NAMED_FAILURES} more`] : [];
  return [`${facts.join("; ")}.`, ...named, ...more].join("\n");
}

function counted(count: number, one: string, many: string): string | undefined {
  if (count === 0) return undefined;
  return count === 1 ? `1 session ${one}` : `${count.toLocaleString("en")} sessions ${many}`;
}
