/** What a part of a tool call says that the edit has broken: `_meta.hermes.problems` of our agent. */

/** `line` is 1-based; `text` names it all in one line. */
export type ShownProblem = {
  readonly path: string;
  readonly line: number;
  readonly severity: "error" | "warning";
  readonly text: string;
};

/** Undefined for a part that is about something else. */
export function problemsIn(
  meta: Readonly<Record<string, unknown>> | null | undefined,
): readonly ShownProblem[] | undefined {
  const hermes = meta?.["hermes"];
  if (typeof hermes !== "object" || hermes === null || !("problems" in hermes)) return undefined;
  return Array.isArray(hermes.problems) ? hermes.problems : undefined;
}
