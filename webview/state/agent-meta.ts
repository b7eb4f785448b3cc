/**
 * What our own agent says on top of ACP: `_meta.hermes`. Another agent may put anything there, so that each field is
 * parsed where it is used.
 */

export type Meta = Readonly<Record<string, unknown>> | null | undefined;

/** A field as it came; undefined where there is none. */
export function hermesField(meta: Meta, name: string): unknown {
  return fieldsOf(meta?.["hermes"])[name];
}

/** None for what is no object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** Where our agent says that a message of the user's stands: `_meta.hermes.position`. */

/** Undefined for agents that do not say it. */
export function positionIn(meta: Meta): number | undefined {
  const position = hermesField(meta, "position");
  return typeof position === "number" ? position : undefined;
}

/** How near the model's window is to being full: `_meta.hermes.contextPressure` of our agent. */

export type ContextPressure = "low" | "high" | "full";

/** `low` from who does not tell. */
export function pressureIn(meta: Meta): ContextPressure {
  const level = hermesField(meta, "contextPressure");
  return level === "high" || level === "full" ? level : "low";
}

/** What our agent says of a compression: `_meta.hermes.compression`. */

/** A message of the user's by its position, or a tool call by its id. */
export type Anchor = { readonly position: number } | { readonly toolCallId: string };

/** Which messages gave way to what, and what that has saved. */
export type CompressionUpdate = {
  readonly messages: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly summary: string | null;
  /** What it begins with; where it ends, and the model sees the messages themselves again. */
  readonly first: Anchor | null;
  readonly firstKept: Anchor | null;
};

/** Undefined for an update that tells of no compression. */
export function compressionIn(meta: Meta): CompressionUpdate | undefined {
  const told = fieldsOf(hermesField(meta, "compression"));
  const { messages, tokensBefore, tokensAfter, summary } = told;
  const [first, firstKept] = [anchorOf(told["first"]), anchorOf(told["firstKept"])];
  const hasCounts = typeof messages === "number" && typeof tokensBefore === "number" && typeof tokensAfter === "number";
  if (!hasCounts || first === undefined || firstKept === undefined) return undefined;
  return {
    messages,
    tokensBefore,
    tokensAfter,
    summary: typeof summary === "string" ? summary : null,
    first,
    firstKept,
  };
}

/** Undefined for what is no anchor. */
function anchorOf(value: unknown): Anchor | null | undefined {
  if (value === null) return null;
  const { position, toolCallId } = fieldsOf(value);
  if (typeof position === "number") return { position };
  return typeof toolCallId === "string" ? { toolCallId } : undefined;
}

/** What a part of a tool call says that the edit has broken: `_meta.hermes.problems` of our agent. */

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
