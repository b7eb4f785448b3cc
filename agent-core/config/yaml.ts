/**
 * YAML functions, loaded on first use. Callers import this module, because the bundler loses the names of a CommonJS
 * package that `await import` loads directly.
 */
import { type Document, isMap, isScalar, isSeq, parse, parseDocument } from "yaml";

/** Throws for invalid YAML. */
export function parseYaml(text: string): unknown {
  return parse(text);
}

/** Sets keys of a top-level section, or removes them (undefined); comments and order stay. Throws for invalid YAML. */
export function withSection(
  text: string,
  section: string,
  values: Readonly<Record<string, string | boolean | undefined>>,
): string {
  const document = parsedDocument(text, section);
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) document.deleteIn([section, key]);
    else document.setIn([section, key], value);
  }
  return document.toString(UNFOLDED);
}

/** Adds a name to a list of a top-level section, or removes it; comments and order stay. Throws for invalid YAML. */
export function withListed(
  text: string,
  [section, key]: readonly [string, string],
  name: string,
  isIn: boolean,
): string {
  const document = parsedDocument(text, section);
  const given = document.getIn([section, key]);
  if (!isSeq(given) && (isIn || given === name)) {
    document.setIn([section, key], document.createNode(typeof given === "string" ? [given] : []));
  }
  const list = document.getIn([section, key]);
  if (isSeq(list)) {
    list.items = list.items.filter((item) => (isScalar(item) ? item.value : item) !== name);
    if (isIn) list.add(document.createNode(name));
  }
  return document.toString(UNFOLDED);
}

/** Long lines of the user stay whole. */
const UNFOLDED = { lineWidth: 0 };

/** The document with a mapping for `section`. */
function parsedDocument(text: string, section: string): Document {
  const document = documentOf(text);
  if (!isMap(document.get(section))) document.set(section, document.createNode({}));
  return document;
}

/** Sets keys of a map inside a mapping, and creates the maps on the way; comments and order stay. Throws for invalid YAML. */
export function withValues(text: string, path: readonly string[], values: Readonly<Record<string, string>>): string {
  const document = documentOf(text);
  for (const [key, value] of Object.entries(values)) document.setIn([...path, key], value);
  return document.toString(UNFOLDED);
}

/** Sets one value, written as YAML, or removes it (undefined); comments and order stay. Throws for invalid YAML. */
export function withSetting(text: string, path: readonly string[], value: string | undefined): string {
  const document = documentOf(text);
  const given: unknown = value === undefined ? undefined : parse(value);
  if (value === undefined) document.deleteIn(path);
  // A plain value takes the place of the one before, whose comment stays.
  else document.setIn(path, typeof given === "object" ? document.createNode(given) : given);
  return document.toString(UNFOLDED);
}

function documentOf(text: string): Document {
  const document = parseDocument(text);
  const [problem] = document.errors;
  if (problem !== undefined) throw problem;
  return document;
}
