/** JSON schemas of tools' arguments. The bundles hold them ready-made: scripts/ready-made.ts replaces this file. */
import * as z from "zod";

/** Length that a model does not reach by mistake. */
const IDLE_LENGTH = 256;

/** The schema that the model gets for the tool `name`, from the tool's own `input`. */
export function toolParameters(_name: string, input: z.ZodType): Record<string, unknown> {
  // io "input": otherwise fields with a default would be listed as required.
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input", override: dropIdle });
  return parameters;
}

/** Bounds that no model would break, and defaults that it expects, cost tokens in every request. The check has them all. */
function dropIdle({ jsonSchema: schema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (schema.minLength === 1) delete schema.minLength;
  if (schema.minItems === 1) delete schema.minItems;
  if (schema.exclusiveMinimum === 0) delete schema.exclusiveMinimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.maxLength !== undefined && schema.maxLength >= IDLE_LENGTH) delete schema.maxLength;
  if (schema.maxItems !== undefined && schema.maxItems >= IDLE_LENGTH) delete schema.maxItems;
  if (schema.default === false || schema.default === 0 || Array.isArray(schema.default)) delete schema.default;
}
