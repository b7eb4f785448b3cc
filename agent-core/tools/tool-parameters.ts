/** JSON schemas of tools' arguments. The bundles hold them ready-made: scripts/ready-made.ts replaces this file. */
import * as z from "zod";

/** The schema that the model gets for the tool `name`, from the tool's own `input`. */
export function toolParameters(_name: string, input: z.ZodType): Record<string, unknown> {
  // io "input": otherwise fields with a default would be listed as required.
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input", override: dropIdleBounds });
  return parameters;
}

/** Bounds that no model would break cost tokens in every request. The check of a call has them all. */
function dropIdleBounds({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minLength === 1) delete jsonSchema.minLength;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
