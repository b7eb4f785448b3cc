/**
 * YAML functions, loaded on first use. Callers import this module, because the bundler loses the names of a CommonJS
 * package that `await import` loads directly.
 */
import { isMap, parse, parseDocument } from "yaml";

/** Throws for invalid YAML. */
export function parseYaml(text: string): unknown {
  return parse(text);
}

/**
 * Sets keys of a top-level section, or removes them (undefined); comments and order stay. Throws for invalid YAML.
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
