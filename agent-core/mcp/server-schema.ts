/** Schemas of a server's tools: made sound for the check, and for the model as all providers accept them. */
import { attempt } from "../platform/errors.ts";
import { isRecord, jsonTarget } from "../platform/json.ts";
import { INVISIBLE } from "../platform/visible-text.ts";

/** Limit of the providers for the name of a tool. */
export const MAX_NAME_CHARS = 64;
/** Characters without a glyph, which hide instructions from people: format and tag characters, and control characters. */
const HIDDEN = new RegExp(`[^\\P{Cc}\\n\\t]|[\\p{Cf}${INVISIBLE.filler}${INVISIBLE.tag}]`, "gu");

export function fitted(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
}

/** The text without characters that people cannot see. */
export function withoutInvisible(text: string): string {
  return text.replaceAll(HIDDEN, "");
}

type Schema = Readonly<Record<string, unknown>>;

/** Keys of parameters that all providers accept. */
const KEY = /^[a-zA-Z0-9_.-]{1,64}$/;
/** Fields that providers refuse at the top of a schema. */
const TOP = new Set(["$ref", "oneOf", "anyOf", "allOf", "not", "enum"]);
/** Values of a schema that are data. */
const DATA = new Set(["enum", "const", "default", "examples"]);
/** Levels of a schema that are read. */
const MAX_DEPTH = 40;

/**
 * The schema for the model, which all providers accept, beside that of the check: branches at its top are merged, keys with
 * other characters renamed. Its descriptions are as visible to people as the tool's own.
 */
export function modelSchema({ inputSchema }: { readonly inputSchema: Schema }): {
  readonly parameters: Record<string, unknown>;
  readonly original?: (args: unknown) => unknown;
} {
  const originals = new Map<string, string>();
  const keyFor = (key: string, siblings: Schema): string => {
    if (KEY.test(key)) return key;
    let name =
      fitted(key)
        .replace(/^_+/, "")
        .slice(0, MAX_NAME_CHARS - 4) || "value";
    while (name in siblings || (originals.has(name) && originals.get(name) !== key)) name += "_";
    originals.set(name, key);
    return name;
  };
  // OpenAI refuses an object without the field.
  const parameters = shownSchema({ properties: {}, ...mergedTop(inputSchema, inputSchema) }, keyFor);
  return { parameters, ...(originals.size > 0 && { original: (args) => withKeys(args, originals) }) };
}

/** An object's own parts with those of its branches. Only what all alternatives require is required. */
function mergedTop(schema: Schema, root: Schema, depth = 0): Schema {
  const list = (value: unknown): readonly Schema[] => (Array.isArray(value) ? value.filter(isRecord) : []);
  const target = typeof schema["$ref"] === "string" ? jsonTarget(schema["$ref"], root) : undefined;
  const merge = (part: Schema): Schema => (depth > 4 ? part : mergedTop(part, root, depth + 1));
  const parts = [...list(schema["allOf"]), ...list([target])].map(merge);
  const alternatives = [...list(schema["anyOf"]), ...list(schema["oneOf"])].map(merge);
  const own = Object.fromEntries(Object.entries(schema).filter(([key]) => !TOP.has(key)));
  if (parts.length + alternatives.length === 0) return own;
  const needed = (part: Schema): readonly unknown[] => (Array.isArray(part["required"]) ? part["required"] : []);
  const [first, ...others] = alternatives.map(needed);
  const shared = (first ?? []).filter((key) => others.every((keys) => keys.includes(key)));
  const required = [...new Set([...needed(own), ...parts.flatMap(needed), ...shared])];
  const properties = Object.assign({}, ...[...alternatives, ...parts, own].map((part) => part["properties"]));
  return { ...own, type: "object", properties, ...(required.length > 0 && { required }) };
}

/** Types of JSON Schema. Servers write them in capitals, and invent others, which say nothing. */
const TYPES = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);

/** The value of a keyword, or undefined for one that has no meaning; `inner` makes a schema below it sound. */
type Reader = (value: unknown, inner: (value: unknown) => Schema, root: Schema) => unknown;

const ofType =
  (type: "string" | "number" | "boolean"): Reader =>
  (value) =>
    typeof value === type ? value : undefined;
const anything: Reader = (value) => value;
const one: Reader = (value, inner) => inner(value);
const several: Reader = (value, inner) => (Array.isArray(value) && value.length > 0 ? value.map(inner) : undefined);
const named: Reader = (value, inner) =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner(each)])) : undefined;

/** The keywords that count. All others, and the dialects and ids of schemas, are left out. */
const KEYWORDS: Readonly<Record<string, Reader>> = {
  type: (value) => {
    const types = [value].flat().map((type) => (typeof type === "string" ? type.toLowerCase() : ""));
    const known = [...new Set(types.filter((type) => TYPES.has(type)))];
    return known.length > 1 ? known : known[0];
  },
  properties: named,
  patternProperties: (value, ...rest) =>
    isRecord(value) && Object.keys(value).every(isPattern) ? named(value, ...rest) : undefined,
  additionalProperties: (value, inner) => (typeof value === "boolean" ? value : inner(value)),
  required: (value) =>
    Array.isArray(value) ? [...new Set(value.filter((name) => typeof name === "string"))] : undefined,
  // Providers refuse a list of places, so each item may be any of them.
  items: (value, inner) => {
    const all = [value].flat().map(inner);
    const [first = {}, ...others] = [...new Map(all.map((each) => [JSON.stringify(each), each])).values()];
    return others.length === 0 ? first : { anyOf: [first, ...others] };
  },
  $ref: (value, _, root) => (typeof value === "string" && jsonTarget(value, root) !== undefined ? value : undefined),
  $defs: named,
  definitions: named,
  anyOf: several,
  oneOf: several,
  allOf: several,
  not: one,
  enum: (value) => (Array.isArray(value) && value.length > 0 ? [...new Set(value)] : undefined),
  const: anything,
  default: (value) => value ?? undefined,
  examples: (value) => (Array.isArray(value) ? value : undefined),
  title: ofType("string"),
  description: ofType("string"),
  format: ofType("string"),
  pattern: (value) => (typeof value === "string" && isPattern(value) ? value : undefined),
  minimum: ofType("number"),
  maximum: ofType("number"),
  exclusiveMinimum: ofType("number"),
  exclusiveMaximum: ofType("number"),
  multipleOf: ofType("number"),
  minLength: ofType("number"),
  maxLength: ofType("number"),
  minItems: ofType("number"),
  maxItems: ofType("number"),
  uniqueItems: ofType("boolean"),
};

/** The schema with those parts alone that mean something: servers write null, older dialects, and words of their own. */
export function soundSchema(written: unknown): Schema & { readonly type: "object" } {
  const root = isRecord(written) ? written : {};
  return { ...soundPart(root, root, 0), type: "object" };
}

function soundPart(written: unknown, root: Schema, depth: number): Schema {
  if (!isRecord(written) || depth > MAX_DEPTH) return {};
  const inner = (value: unknown): Schema => soundPart(value, root, depth + 1);
  const list = { ...(Array.isArray(written["prefixItems"]) && { items: written["prefixItems"] }), ...written };
  const entries = Object.entries(list).map(([key, value]) => {
    return [key, Object.hasOwn(KEYWORDS, key) ? KEYWORDS[key]?.(value, inner, root) : undefined] as const;
  });
  const sound = Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  const types: readonly unknown[] = [sound["type"]].flat();
  // OpenAPI says so where JSON Schema has a type of its own.
  const mayBeNull = written["nullable"] === true && types.some((type) => type !== undefined && type !== "null");
  return {
    ...sound,
    ...(types.includes("array") && sound["items"] === undefined && { items: {} }),
    ...(mayBeNull && { type: [...types.filter((type) => type !== "null"), "null"] }),
    ...(mayBeNull && Array.isArray(sound["enum"]) && { enum: [...new Set([...sound["enum"], null])] }),
  };
}

function isPattern(pattern: string): boolean {
  return attempt(() => new RegExp(pattern, "u").source !== "") ?? false;
}

function shownSchema(schema: Schema, keyFor: (key: string, siblings: Schema) => string): Record<string, unknown> {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const shown = (value: unknown, key: string): unknown => {
    if (typeof value === "string" && (key === "description" || key === "title")) return withoutInvisible(value);
    if (DATA.has(key)) return value;
    if (key === "required" && Array.isArray(value)) return value.map((name) => keyFor(String(name), properties));
    if (Array.isArray(value)) return value.map((item) => (isRecord(item) ? shownSchema(item, keyFor) : item));
    if (!isRecord(value)) return value;
    if (key !== "properties") return shownSchema(value, keyFor);
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [
        keyFor(name, value),
        isRecord(each) ? shownSchema(each, keyFor) : each,
      ]),
    );
  };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, shown(value, key)]));
}

function withKeys(value: unknown, originals: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withKeys(item, originals));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [originals.get(key) ?? key, withKeys(item, originals)]);
  return Object.fromEntries(entries);
}
