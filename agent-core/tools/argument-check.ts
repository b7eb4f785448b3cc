/** Check of arguments against the JSON schema of a foreign tool. Loads the validator of the MCP library. */
import type { JsonSchemaType } from "@modelcontextprotocol/client";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { isRecord } from "../platform/json.ts";
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
  // The library takes two schemas with one `$id` for the same, and writes a format that it does not know to the console.
  const { $id: _, ...own } = withoutFormats(schema);
  const validate = limited(limitMs, () => compile(own as JsonSchemaType));
  return (args) => validate && limited(limitMs, () => validate(args).errorMessage?.slice(0, ERROR_CHARS));
}

/** Keywords whose names have schemas, and those with values. */
const NAMED = /^(?:properties|patternProperties|\$defs|definitions|dependentSchemas)$/;
const VALUES = /^(?:const|enum|default|examples)$/;

/** Formats are remarks by the standard; the owner of the tool checks them. `areNames`: the keys are no keywords. */
function withoutFormats(schema: object, areNames = false): Readonly<Record<string, unknown>> {
  const kept = Object.entries(schema).filter(([key, value]) => areNames || key !== "format" || isRecord(value));
  const parts = kept.map(([key, part]) => {
    if (typeof part !== "object" || part === null || (!areNames && VALUES.test(key))) return [key, part];
    const list = Array.isArray(part) && part.map((each) => (isRecord(each) ? withoutFormats(each) : each));
    return [key, list || withoutFormats(part, !areNames && NAMED.test(key))];
  });
  return Object.fromEntries(parts);
}

function compile(schema: JsonSchemaType): ReturnType<AjvJsonSchemaValidator["getValidator"]> {
  const validator = shared ?? new AjvJsonSchemaValidator();
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
