/**
 * Fits the arguments that a model wrote to a tool's JSON schema: numbers and lists as text, null for a value that is left
 * out, other names of a property, a wrapper around the arguments. Arguments that fit are never changed.
 */
import { isRecord, jsonTarget, parseJson, parseRepairedJson } from "../platform/json.ts";
import { withoutFence } from "./call-arguments.ts";

type Schema = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, unknown>>;

/** Nested schemas and values that are looked into. A schema may refer to itself without end. */
const MAX_DEPTH = 20;
/** Schemas that are looked into, all together: references may branch at each level. Takes about 5 ms. */
const MAX_STEPS = 20_000;

/** Arguments after fitting. A value that the schema accepts, or that no rule can fit, returns as it is. */
export function fitArguments(raw: unknown, schema: Schema): unknown {
  return new Fitting(schema).fit(raw, schema, 0);
}

/** As `fitArguments`, for arguments that the tool's own check refused: it may know more than the schema says. */
export function fitRefused(raw: unknown, schema: Schema): unknown {
  return new Fitting(schema).change(raw, schema, 0);
}

/** Arguments under the names of the schema, where its server would take another spelling of them in silence. */
export function respelled(raw: unknown, schema: Schema): unknown {
  const { properties } = schema;
  if (!isRecord(raw) || !isRecord(properties) || !hasOtherSpelling(raw, schema)) return raw;
  return renamed(raw, Object.keys(properties), [isSameName]);
}

/** Fits by one schema, whose definitions its references name. */
class Fitting {
  readonly #root: Schema;
  #steps = 0;

  constructor(root: Schema) {
    this.#root = root;
  }

  fit(value: unknown, schema: unknown, depth: number): unknown {
    return this.#accepts(value, schema, depth) ? value : this.change(value, schema, depth);
  }

  change(value: unknown, written: unknown, depth: number): unknown {
    const schema = this.#resolved(written);
    if (schema === undefined || depth > MAX_DEPTH) return value;
    const whole = listOf(schema["allOf"]).reduce<unknown>((fitted, part) => this.fit(fitted, part, depth + 1), value);
    const branches = [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])];
    const candidates = branches.map((branch) => this.fit(whole, branch, depth + 1));
    const chosen = candidates.find((candidate, index) => this.#accepts(candidate, branches[index], depth + 1)) ?? whole;
    const types = typesOf(schema);
    const isTyped = types.length === 0 || types.some((type) => hasType(chosen, type));
    const typed = isTyped ? chosen : this.#converted(chosen, schema, depth);
    if (Array.isArray(typed)) return typed.map((item) => this.fit(item, schema["items"], depth + 1));
    if (isRecord(typed)) return this.#fitFields(typed, schema, depth);
    return withinBounds(asMember(typed, schema), schema);
  }

  #fitFields(value: Fields, schema: Schema, depth: number): Fields {
    const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
    const required = listOf(schema["required"]).map(String);
    const inner = wrapped(value, properties);
    if (inner !== undefined) {
      const fitted = this.fit(inner, schema, depth + 1);
      if (this.#accepts(fitted, schema, depth)) return isRecord(fitted) ? fitted : value;
    }
    const named = this.#nested(renamed(value, [...required, ...Object.keys(properties)]), schema, depth);
    const entries = Object.entries(named).flatMap(([name, written]): readonly [string, unknown][] => {
      const property = propertyOf(name, schema);
      if (property === false) return [];
      const isText = LINES.test(name) && this.#accepts("", property, depth) && !this.#accepts([], property, depth);
      const fitted = this.fit(isText ? joinedLines(written) : written, property, depth + 1);
      if (!isNothing(written) || this.#accepts(fitted, property, depth + 1)) return [[name, fitted]];
      return required.includes(name) ? [[name, this.#resolved(property)?.["default"] ?? fitted]] : [];
    });
    return { ...this.#defaultsOf(required, properties, entries), ...Object.fromEntries(entries) };
  }

  /** The value in a type of the schema, or as the only required field of an object. */
  #converted(value: unknown, schema: Schema, depth: number): unknown {
    const types = typesOf(schema);
    const converted = convert(value, types);
    if (types.join() !== "object" || isRecord(converted) || isNothing(value)) return converted;
    const [name = "", ...others] = listOf(schema["required"]).map(String);
    const isField = name !== "" && others.length === 0 && this.#accepts(value, propertyOf(name, schema), depth + 1);
    return isField ? { [name]: value } : converted;
  }

  /** Fields that belong into a missing object, or into the items of a missing list, moved there: `{query}` for `{params: {query}}`. */
  #nested(value: Fields, schema: Schema, depth: number): Fields {
    const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
    const [name, ...others] = listOf(schema["required"])
      .map(String)
      .filter((each) => !Object.hasOwn(value, each));
    const free = Object.entries(value).filter(([key]) => !Object.hasOwn(properties, key));
    if (name === undefined || others.length > 0 || free.length === 0) return value;
    const outer = this.#resolved(properties[name]);
    const inner = outer && typesOf(outer).includes("array") ? this.#resolved(outer["items"]) : outer;
    if (inner === undefined || !isRecord(inner["properties"])) return value;
    const fitted = this.fit(Object.fromEntries(free), { additionalProperties: false, ...inner }, depth + 1);
    const isWhole =
      isRecord(fitted) && Object.keys(fitted).length >= free.length && this.#accepts(fitted, inner, depth);
    const kept = Object.entries(value).filter(([key]) => Object.hasOwn(properties, key));
    return isWhole ? { ...Object.fromEntries(kept), [name]: inner === outer ? fitted : [fitted] } : value;
  }

  /** Defaults of required properties that are missing: some servers list every property as required. */
  #defaultsOf(required: readonly string[], properties: Fields, entries: readonly [string, unknown][]): Fields {
    const missing = required.filter((name) => !entries.some(([written]) => written === name));
    const defaults = missing.map((name) => [name, this.#resolved(properties[name])?.["default"]]);
    return Object.fromEntries(defaults.filter(([, value]) => value !== undefined));
  }

  /** False only for a value that the schema surely refuses. */
  #accepts(value: unknown, written: unknown, depth: number): boolean {
    if (written === false) return false;
    const schema = this.#resolved(written);
    if (schema === undefined || depth > MAX_DEPTH) return true;
    const accepts = (part: unknown): boolean => this.#accepts(value, part, depth + 1);
    const [anyOf, oneOf] = [listOf(schema["anyOf"]), listOf(schema["oneOf"])];
    if (!listOf(schema["allOf"]).every(accepts)) return false;
    if ((anyOf.length > 0 && !anyOf.some(accepts)) || (oneOf.length > 0 && !oneOf.some(accepts))) return false;
    const types = typesOf(schema);
    if (types.length > 0 && !types.some((type) => hasType(value, type))) return false;
    if (!isMember(value, schema) || withinBounds(value, schema) !== value || isTooEmpty(value, schema)) return false;
    if (Array.isArray(value)) return value.every((item) => this.#accepts(item, schema["items"], depth + 1));
    return !isRecord(value) || this.#acceptsFields(value, schema, depth);
  }

  #acceptsFields(value: Fields, schema: Schema, depth: number): boolean {
    if (!listOf(schema["required"]).every((name) => Object.hasOwn(value, String(name)))) return false;
    if (hasOtherSpelling(value, schema)) return false;
    return Object.entries(value).every(([name, field]) => this.#accepts(field, propertyOf(name, schema), depth + 1));
  }

  /** The schema that a chain of local references leads to; undefined for `true`, for none, and for other references. */
  #resolved(written: unknown): Schema | undefined {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) return undefined;
    let schema = written;
    for (let hops = 0; isRecord(schema) && typeof schema["$ref"] === "string"; hops += 1) {
      if (hops > MAX_DEPTH) return undefined;
      schema = jsonTarget(schema["$ref"], this.#root);
    }
    return isRecord(schema) ? schema : undefined;
  }
}

/** True for `max-results` where the schema has `max_results`, and takes any other name in silence. */
function hasOtherSpelling(value: Fields, { properties, additionalProperties }: Schema): boolean {
  if (!isRecord(properties) || additionalProperties !== undefined) return false;
  const free = Object.keys(properties).filter((name) => !Object.hasOwn(value, name));
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  return unknown.some((name) => free.some((known) => isSameName(name, known)));
}

/** Schema of a field: its own, that of the only pattern of names, or that of all others. False: there is no such field. */
function propertyOf(name: string, { properties, patternProperties, additionalProperties }: Schema): unknown {
  if (isRecord(properties) && Object.hasOwn(properties, name)) return properties[name];
  if (!isRecord(patternProperties)) return additionalProperties;
  const [only, ...others] = Object.values(patternProperties);
  return others.length === 0 ? only : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function typesOf({ type }: Schema): readonly string[] {
  return typeof type === "string" ? [type] : listOf(type).map(String);
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "object":
      return isRecord(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "integer":
      return Number.isInteger(value);
    case "number":
    case "boolean":
    case "string":
      return typeof value === type;
    default:
      return true;
  }
}

/** Texts that stand for a value that is left out. */
const NOTHING = /^(?:|null|none|undefined|n\/a|nan)$/i;

function isNothing(value: unknown): boolean {
  if (typeof value === "string") return NOTHING.test(value.trim());
  return value === null || (Array.isArray(value) && value.length === 0);
}

/** True for an empty text or list that a limit of its schema excludes. */
function isTooEmpty(value: unknown, { minLength, minItems }: Schema): boolean {
  if (Array.isArray(value)) return value.length === 0 && Number(minItems ?? 0) > 0;
  return value === "" && Number(minLength ?? 0) > 0;
}

/** The value in the first of these types that can hold it; the value itself if there is none. */
function convert(value: unknown, types: readonly string[]): unknown {
  // A list is tried last, because it can hold any value.
  const ordered = [...types.filter((type) => type !== "array"), ...types.filter((type) => type === "array")];
  for (const type of ordered) {
    const converted = asType(value, type);
    if (converted !== undefined) return converted;
  }
  const [only] = Array.isArray(value) && value.length === 1 ? value : [];
  if (only === undefined) return value;
  return types.some((type) => hasType(only, type)) ? only : convert(only, types);
}

/** Parameters whose text has lines. A list of words for a command is no text: nobody knows what joins them. */
const LINES = /^(?:content|text|old_string|new_string|patch)$/;

function joinedLines(value: unknown): unknown {
  if (!Array.isArray(value) || !value.every((line) => typeof line === "string")) return value;
  return value.join(value.some((line) => line.endsWith("\n")) ? "" : "\n");
}

/** The items of a list that was written as an object: by their numbers, or below one name. */
function numberedItems(value: Fields): readonly unknown[] | undefined {
  const [only, ...others] = Object.values(value);
  if (others.length === 0 && Array.isArray(only)) return only;
  return Object.keys(value).every((key, index) => key === String(index)) ? Object.values(value) : undefined;
}

/** The value in this type; undefined if it cannot hold it. */
function asType(value: unknown, type: string): unknown {
  if (typeof value === "string") return fromText(withoutFence(value.trim()), type);
  if (type === "string") return asText(value);
  if (type === "boolean" && (value === 0 || value === 1)) return value === 1;
  return type === "array" && value !== null ? (isRecord(value) && numberedItems(value)) || [value] : undefined;
}

/** A list of texts is no text: nobody knows what joins its items. */
function asText(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return isRecord(value) || (Array.isArray(value) && value.some(isRecord)) ? JSON.stringify(value, null, 2) : undefined;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const YES = /^(?:true|yes|on|1)$/i;
const NO = /^(?:false|no|off|0)$/i;

function fromText(text: string, type: string): unknown {
  switch (type) {
    case "integer":
      return Number.isInteger(numberIn(text)) ? numberIn(text) : undefined;
    case "number":
      return numberIn(text);
    case "boolean":
      return YES.test(text) || (NO.test(text) ? false : undefined);
    case "null":
      return NOTHING.test(text) ? null : undefined;
    case "object":
      return objectIn(text);
    case "array":
      return listIn(text);
    default:
      return undefined;
  }
}

function isLossy(digits: string): boolean {
  return Number.isInteger(Number(digits)) && !Number.isSafeInteger(Number(digits));
}

function numberIn(text: string): number | undefined {
  return NUMBER.test(text) && !isLossy(text) ? Number(text) : undefined;
}

function objectIn(text: string): Fields | undefined {
  const value = text.startsWith("{") ? parseRepairedJson(text) : undefined;
  return isRecord(value) ? value : undefined;
}

/** Texts of JSON, and its numbers. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*/gi;

/** A list as JSON, or the text as its only item. A number that would lose digits stays text. */
function listIn(text: string): unknown {
  if (NOTHING.test(text)) return undefined;
  const json = text.replaceAll(TOKEN, (token) => (isLossy(token) ? `"${token}"` : token));
  if (text.startsWith("[")) return parseJson(json) ?? parseRepairedJson(text) ?? [text];
  // Numbers with commas between, or a list that was encoded twice.
  const list = parseJson(`[${json}]`);
  const [only] = listOf(list);
  return typeof only === "string" && only.startsWith("[") ? listIn(only) : (list ?? [text]);
}

function membersOf(schema: Schema): readonly unknown[] | undefined {
  if ("const" in schema) return [schema["const"]];
  return Array.isArray(schema["enum"]) ? schema["enum"] : undefined;
}

function isMember(value: unknown, schema: Schema): boolean {
  const json = JSON.stringify(value);
  return membersOf(schema)?.some((member) => JSON.stringify(member) === json) ?? true;
}

/** The one member of an `enum` that reads like the value. */
function asMember(value: unknown, schema: Schema): unknown {
  if (isMember(value, schema)) return value;
  const alike = membersOf(schema)?.filter((member) => plain(String(member)) === plain(String(value))) ?? [];
  return alike.length === 1 ? alike[0] : value;
}

/** A number moved to the nearest bound that it exceeds. */
function withinBounds(value: unknown, schema: Schema): unknown {
  if (typeof value !== "number") return value;
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  // Only whole numbers have a nearest one beside an exclusive bound.
  const isWhole = typesOf(schema).join() === "integer";
  const lowest = isWhole && typeof above === "number" ? above + 1 : minimum;
  const highest = isWhole && typeof below === "number" ? below - 1 : maximum;
  const raised = typeof lowest === "number" ? Math.max(value, lowest) : value;
  return typeof highest === "number" ? Math.min(raised, highest) : raised;
}

/** Names beside a wrapper: a whole call may stand in place of its arguments. */
const CALL_FIELD = /^(?:name|tool|tool_name|type|id)$/;

/** Fields inside a single field that the tool does not know, such as `{"name": "…", "arguments": {…}}`. */
function wrapped(value: Fields, properties: Fields): Fields | undefined {
  const [entry, ...others] = Object.entries(value).filter(([name]) => !CALL_FIELD.test(name));
  if (entry === undefined || others.length > 0 || entry[0] in properties) return undefined;
  const inner = typeof entry[1] === "string" ? parseJson(entry[1]) : entry[1];
  const [only, ...further] = listOf(inner);
  return further.length > 0 ? undefined : [inner, only].find(isRecord);
}

/**
 * Other names of one parameter, as the tools of other agents have them: Claude Code, Codex, Cline, Gemini CLI, Copilot.
 * Names that share a word, or abbreviate it, need no row.
 */
const SYNONYMS: readonly (readonly string[])[] = [
  ["path", "file", "filename", "uri", "target", "folder", "directory"],
  ["content", "text", "contents", "code", "body", "data", "new_content"],
  ["command", "script", "code", "shell", "input"],
  ["pattern", "query", "regex", "search", "expression"],
  ["query", "q", "search", "question", "input"],
  ["question", "prompt", "message", "query", "text"],
  ["old_string", "search", "find", "original", "before"],
  ["new_string", "replace", "replacement", "updated", "after"],
  ["workdir", "cwd", "directory", "folder"],
  ["url", "uri", "link", "href"],
  ["uri", "url", "link"],
  ["limit", "max_results", "count", "num_results", "head_limit"],
  ["offset", "start", "start_line", "skip"],
];

/** Fields under the names that the schema has. The first ones take precedence; a name that is there is kept. */
function renamed(value: Fields, known: readonly string[], likenesses = [isSameName, sharesWord, isSynonym]): Fields {
  const names = new Map(Object.keys(value).map((name) => [name, name]));
  const wanted = known.filter((name) => !names.has(name));
  for (const likeness of likenesses) {
    for (const name of wanted) {
      const taken = [...names.values()].includes(name);
      const alike = [...names].filter(([written, now]) => written === now && !known.includes(written));
      const [match, second] = alike.filter(([written]) => likeness(written, name));
      if (!taken && match !== undefined && second === undefined) names.set(match[0], name);
    }
  }
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [names.get(name) ?? name, field]));
}

/** `filePath` → `filepath`. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

function isSameName(written: string, name: string): boolean {
  return plain(written) === plain(name);
}

function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
}

/** True when all words of one name are in the other: `file_path` and `path`, `old_str` and `old_string`. */
function sharesWord(written: string, name: string): boolean {
  const [fewer, more] = [wordsOf(written), wordsOf(name)].toSorted((first, second) => first.length - second.length);
  return fewer?.every((word) => more?.some((other) => abbreviates(word, other) || abbreviates(other, word))) ?? false;
}

/** `cmd` for `command`, `str` for `string`, `path` in `filepath`. */
function abbreviates(short: string, long: string): boolean {
  if (short === long) return true;
  if (short.length < 3 || short.length >= long.length) return false;
  if (long.endsWith(short)) return true;
  const rest = [...long].reduce((left, letter) => (left[0] === letter ? left.slice(1) : left), [...short]);
  return rest.length === 0 && short[0] === long[0];
}

function isSynonym(written: string, name: string): boolean {
  return SYNONYMS.some(([first = "", ...others]) => {
    const isFirst = isSameName(name, first);
    return isFirst && others.some((other) => isSameName(written, other));
  });
}
