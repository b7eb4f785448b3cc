/**
 * Names in config.yaml without effect: misspelt ones, and settings of the original Hermes Agent that do not exist here. A
 * misspelt name of a protection counts as an error, and the strict value applies.
 */
import * as z from "zod";
import { editDistance, nearestNames, nearName } from "../platform/names.ts";
import { sections } from "./sections.ts";

/** Protection that a misspelt name could switch off. The strict value applies until the name is corrected. */
export type Safeguard = "commands" | "approvals" | "certificates" | "tools";

/** Settings that protect the user, and the consequence of a misspelt name in words. */
const safeguards: readonly { readonly name: Safeguard; readonly settings: RegExp; readonly consequence: string }[] = [
  { name: "commands", settings: /^terminal(\.|$)/, consequence: "No command runs until this is corrected." },
  { name: "approvals", settings: /^approvals(\.|$)/, consequence: "Hermes asks as in mode manual until then." },
  { name: "certificates", settings: /^network(\.|$)/, consequence: "Certificates are checked until then." },
  {
    name: "tools",
    settings: /^(toolsets|platform_toolsets|agent\.disabled_toolsets)$/,
    consequence: "Only tools that read are available until this is corrected.",
  },
];

/** Settings of the original Hermes Agent that resemble a protection here. */
const OTHER_SETTINGS: readonly string[] = ["tools", "custom_toolsets", "terminal.container_disk"];

export type NameProblems = {
  /** One line for people each. */
  readonly warnings: readonly string[];
  /** One line for people each. */
  readonly errors: readonly string[];
  readonly safeguards: ReadonlySet<Safeguard>;
};

/** Checks the names in `raw`, a parsed config.yaml, against the schemas. */
export function checkNames(raw: Readonly<Record<string, unknown>>): NameProblems {
  const errors: string[] = [];
  const unknown: string[] = [];
  const strict = new Set<Safeguard>();
  for (const { name, section, known } of namesWithoutSchema(raw, [z.object(sections)], [])) {
    const path = [...section, name].join(".");
    const near = OTHER_SETTINGS.includes(path) ? undefined : misspelt(name, known);
    const safeguard = near === undefined ? undefined : safeguardOf([...section, near].join("."));
    if (safeguard === undefined) {
      const hint = near ?? nearName(name, known);
      unknown.push(hint === undefined ? path : `${path} (did you mean ${hint}?)`);
      continue;
    }
    strict.add(safeguard.name);
    errors.push(
      `config.yaml: ${path} is not a setting. Did you mean ${[...section, near].join(".")}? ${safeguard.consequence}`,
    );
  }
  const warnings = unknown.length === 0 ? [] : [`config.yaml: unknown settings without effect: ${unknown.join(", ")}.`];
  return { warnings, errors, safeguards: strict };
}

/** Protection that a setting belongs to, with its consequence in words. */
export function safeguardOf(path: string) {
  return safeguards.find(({ settings }) => settings.test(path));
}

/** The known name that was probably meant: it differs in about every third character, or one begins with the other. */
function misspelt(name: string, known: readonly string[]): string | undefined {
  const written = name.toLowerCase();
  const isNear = (candidate: string): boolean =>
    (Math.min(written.length, candidate.length) > 2 &&
      (written.startsWith(candidate) || candidate.startsWith(written))) ||
    editDistance(written, candidate) <= Math.max(1, Math.floor(candidate.length / 3));
  return nearestNames(name, known, known.length).find(isNear);
}

type ForeignName = {
  readonly name: string;
  readonly section: readonly string[];
  /** Valid names at this place. */
  readonly known: readonly string[];
};

/** Names in the mappings of `value` that the schemas for it do not have. */
function namesWithoutSchema(
  value: unknown,
  schemas: readonly unknown[],
  section: readonly string[],
): readonly ForeignName[] {
  const possible = schemas.flatMap(withoutWrappers);
  if (Array.isArray(value)) {
    const elements = possible.flatMap((schema) => (schema instanceof z.ZodArray ? [schema.element] : []));
    return value.flatMap((item) => namesWithoutSchema(item, elements, section));
  }
  if (typeof value !== "object" || value === null) return [];
  const entries = Object.entries(value);
  const records = possible.flatMap((schema) => (schema instanceof z.ZodRecord ? [schema.valueType] : []));
  if (records.length > 0)
    return entries.flatMap(([name, item]) => namesWithoutSchema(item, records, [...section, name]));
  const shapes = possible.flatMap((schema) => (schema instanceof z.ZodObject ? [schema.shape] : []));
  // A schema without a shape, and one that is open for other names, accepts all of them.
  if (shapes.length === 0 || possible.some((schema) => schema instanceof z.ZodObject && schema.def.catchall)) return [];
  const known = [...new Set(shapes.flatMap((shape) => Object.keys(shape)))];
  return entries.flatMap(([name, item]) => {
    const inner = shapes.flatMap((shape) => (Object.hasOwn(shape, name) ? [shape[name]] : []));
    return inner.length === 0 ? [{ name, section, known }] : namesWithoutSchema(item, inner, [...section, name]);
  });
}

/** The schemas for arrays, records and objects behind defaults, unions and transformations. */
function withoutWrappers(schema: unknown): readonly unknown[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(withoutWrappers);
  if (schema instanceof z.ZodPipe) {
    return withoutWrappers(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  }
  const isWrapper = [z.ZodOptional, z.ZodNullable, z.ZodDefault, z.ZodPrefault, z.ZodReadonly, z.ZodCatch, z.ZodLazy];
  const wrapper = isWrapper.find((kind) => schema instanceof kind);
  return wrapper === undefined ? [schema] : withoutWrappers((schema as z.ZodOptional).unwrap());
}
