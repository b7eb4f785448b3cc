/** Reads `_meta.hermes`, the place for our own fields in ACP's messages. */
import type * as z from "zod";

/** Undefined when the field is missing or has another shape. */
export function readMeta<Schema extends z.ZodType>(schema: Schema, meta: unknown): z.output<Schema> | undefined {
  if (typeof meta !== "object" || meta === null || !("hermes" in meta)) return undefined;
  return schema.safeParse(meta.hermes).data;
}
