/** Check of arguments against the JSON schema of a foreign tool. Loads the validator of the MCP library. */
import type { JsonSchemaType } from "@modelcontextprotocol/client";
import { Ajv, AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { withinTime } from "../platform/within-time.ts";

/** Largest schema. The largest ones of real servers have 30,000 characters. */
const MAX_CHARS = 100_000;
/** Limit of one compilation and of one check. A pattern, or references that branch, may need hours; a busy machine a tenth of it. */
const LIMIT_MS = 200;
/** Part of the errors that is shown: a branching schema gives megabytes. Characters. */
const ERROR_CHARS = 1_000;

/** A validator costs milliseconds, so all schemas share one. An interrupted compilation leaves it unusable. */
let shared: AjvJsonSchemaValidator | undefined;

/** Validates arguments: the errors in one line, undefined for valid ones. */
export type ArgumentCheck = (args: unknown) => string | undefined;

/**
 * `limitMs`: limit of the compilation and of each check. Throws when the schema does not compile. Arguments that take too
 * long to check are passed on unchecked: the owner of the tool checks them too.
 */
export function argumentCheck(schema: Readonly<Record<string, unknown>>, limitMs = LIMIT_MS): ArgumentCheck {
  const { length } = JSON.stringify(schema);
  if (length > MAX_CHARS) throw new Error(`it has ${length} characters; the limit is ${MAX_CHARS}`);
  // The library takes two schemas with one `$id` for the same.
  const { $id: _, ...own } = schema;
  const validate = limited(limitMs, () => compile(own as JsonSchemaType));
  return (args) => validate && limited(limitMs, () => validate(args).errorMessage?.slice(0, ERROR_CHARS));
}

function compile(schema: JsonSchemaType): ReturnType<AjvJsonSchemaValidator["getValidator"]> {
  // Formats are remarks by the standard; the owner of the tool checks them.
  const validator =
    shared ??
    new AjvJsonSchemaValidator(
      new Ajv({ strict: false, validateSchema: false, allErrors: true, validateFormats: false }),
    );
  shared = undefined;
  const validate = validator.getValidator(schema);
  shared = validator;
  return validate;
}

/** Undefined when `work` takes too long, or ends in the stack overflow of a schema that refers to itself without end. */
function limited<Value>(limitMs: number, work: () => Value): Value | undefined {
  try {
    return withinTime(limitMs, work)?.value;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
