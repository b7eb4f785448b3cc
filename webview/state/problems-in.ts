/** What a part of a tool call says that the edit has broken: `_meta.hermes.problems` of our agent. */
import { fieldsOf, hermesField, type Meta } from "./hermes-meta.ts";

/** `line` is 1-based; `text` names it all in one line. */
export type ShownProblem = {
  readonly path: string;
  readonly line: number;
  readonly severity: "error" | "warning";
  readonly text: string;
};

/** Undefined for a part that is about something else. */
export function problemsIn(meta: Meta): readonly ShownProblem[] | undefined {
  const problems = hermesField(meta, "problems");
  return Array.isArray(problems) ? problems.flatMap(problemOf) : undefined;
}

/** None for what is no problem. */
function problemOf(value: unknown): ShownProblem[] {
  const { path, line, severity, text } = fieldsOf(value);
  if (typeof path !== "string" || typeof line !== "number" || typeof text !== "string") return [];
  return severity === "error" || severity === "warning" ? [{ path, line, severity, text }] : [];
}
