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
