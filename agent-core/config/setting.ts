/** Building blocks of the sections of config.yaml: a setting with its meaning, and a group of settings in camelCase. */
import * as z from "zod";

/** Meanings and examples of the settings, for docs/config.md and the JSON schema of the file. */
export const documented = z.registry<{ readonly description: string; readonly examples?: readonly unknown[] }>();

/** `meaning`: a sentence for users, with units. The schema must not be shared. */
export function setting<Schema extends z.ZodType>(meaning: string, schema: Schema, example?: unknown): Schema {
  documented.add(schema, { description: meaning, ...(example !== undefined && { examples: [example] }) });
  return schema;
}

type CamelCase<Name> = Name extends `_${infer Rest}`
  ? CamelCase<Rest>
  : Name extends `${infer First}_${infer Rest}`
    ? `${First}${Capitalize<CamelCase<Rest>>}`
    : Name;

/** `Values` with the names that the code uses: `max_turns` is `maxTurns`. */
export type CamelCased<Values> = { [Name in keyof Values as CamelCase<Name>]: Values[Name] };

export function camelCased<Values extends object>(values: Values): CamelCased<Values> {
  const named = Object.entries(values).map(([name, value]) => [camelCase(name), value]);
  return Object.fromEntries(named) as CamelCased<Values>; // the same values under the names of the type
}

/** `_config_version` is `configVersion`. */
export function camelCase(name: string): string {
  return name.replace(/^_/, "").replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Object whose names are those of config.yaml in the file, and camelCase in code. */
export function group<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object(shape).transform((values) => camelCased(values));
}
