/**
 * YAML, loaded when there is some. Imported as a whole module: the bundler loses the names of a CommonJS package that
 * is imported by `await import` itself.
 */
import { isMap, parse, parseDocument } from "yaml";

/** Throws when `text` is no YAML. */
export function parseYaml(text: string): unknown {
  return parse(text);
}

/**
 * `text` with the given keys of a top-level section set, or taken away (undefined); comments and order stay. Throws when
 * it is no YAML.
 */
export function withSection(
  text: string,
  section: string,
  values: Readonly<Record<string, string | undefined>>,
): string {
  const document = parseDocument(text);
  const [problem] = document.errors;
  if (problem !== undefined) throw problem;
  if (!isMap(document.get(section))) document.set(section, document.createNode({}));
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) document.deleteIn([section, key]);
    else document.setIn([section, key], value);
  }
  return document.toString();
}
