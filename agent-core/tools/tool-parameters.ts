/** JSON schemas of tools' arguments. The bundles hold them ready-made: scripts/ready-made.ts replaces this file. */
import * as z from "zod";

/** The schema that the model gets for the tool `name`, from the tool's own `input`. */
export function toolParameters(_name: string, input: z.ZodType): Record<string, unknown> {
  // io "input": otherwise fields with a default would be listed as required.
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input" });
  return parameters;
}
