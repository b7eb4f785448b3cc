/** The reference of config.yaml, docs/config.md, and its JSON schema, both made of the table of its settings. */
import { stringify } from "yaml";
import * as z from "zod";
import { sections } from "../agent-core/config/sections.ts";
import { documented } from "../agent-core/config/setting.ts";

type Schema = z.core.JSONSchema.JSONSchema;

const NOTE = "Written by scripts/tables.mjs from agent-core/config/sections.ts; do not edit. Run `npm run tables`.";

/** JSON schema of config.yaml, for completion and checks in an editor. */
export function configSchema(): string {
  const made = z.toJSONSchema(z.object(sections).partial(), {
    io: "input",
    target: "draft-7",
    metadata: documented,
    override({ zodSchema, jsonSchema }) {
      // zod leaves both out of a value that a transformation follows.
      const { def } = zodSchema._zod;
      if (def.type === "default") jsonSchema.default = def.defaultValue;
      const examples = documented.get(zodSchema)?.examples;
      if (examples !== undefined) jsonSchema.examples = [...examples];
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (JSON.stringify(jsonSchema.default) === "{}") delete jsonSchema.default;
    },
  });
  const { model, skills } = made.properties ?? {};
  // `preprocess` accepts more than the schema behind it: a model's name, and `ask`.
  if (typeof model !== "object" || typeof skills !== "object") throw new Error("The table lacks model or skills.");
  model.type = ["object", "string"];
  const approval = skills.properties?.["write_approval"];
  if (typeof approval === "object") approval.anyOf?.push({ type: "string", const: "ask" });
  return `${JSON.stringify({ $comment: NOTE, title: "config.yaml of Hermes", ...made }, undefined, 1)}\n`;
}

/** The reference in Markdown: each setting with its values, default, meaning and an example. */
export function configReference(): string {
  const { properties = {} } = JSON.parse(configSchema()) as Schema; // made above
  const parts = Object.entries(properties).map(([name, schema]) => sectionText(name, objectOf(schema)));
  return [
    `<!-- ${NOTE} -->`,
    "# config.yaml",
    "Settings for every client of Hermes, in `~/.hermes/config.yaml` (`HERMES_HOME` names another folder). All are optional. Keys belong in `.env` beside it. `${NAME}` and `${NAME:-default}` in a value stand for environment variables. A value that cannot be used causes a warning, and its default applies; `hermes doctor` lists them. `npm run chat -- doctor` is the same from this repository. [config.schema.json](../config.schema.json) completes the names in an editor: put `# yaml-language-server: $schema=PATH` into the first line.",
    ...parts,
    "",
  ].join("\n\n");
}

type Row = { readonly path: string; readonly schema: Schema };

function sectionText(name: string, schema: Schema): string {
  const rows = rowsOf(name, schema);
  for (const row of rows) if (row.schema.description === undefined) throw new Error(`${row.path} has no meaning.`);
  const isAlone = rows.length === 1 && rows[0]?.path === name;
  const tasks = schema.properties !== undefined && isUniform(schema) ? Object.keys(schema.properties) : [];
  const lines = rows.map(
    ({ path, schema: one }) =>
      `| \`${path}\` | ${valuesOf(one)} | ${one.default === undefined ? "–" : code(one.default)} | ${cell(one.description ?? "")} |`,
  );
  const example = exampleOf(schema);
  return [
    `## ${name}`,
    ...(isAlone ? [] : [schema.description ?? ""]),
    ...(tasks.length === 0 ? [] : [`\`TASK\` is one of ${tasks.map((task) => `\`${task}\``).join(", ")}.`]),
    ["| Setting | Value | Default | Meaning |", "|---|---|---|---|", ...lines].join("\n"),
    ...(example === undefined ? [] : [`\`\`\`yaml\n${stringify({ [name]: example }, { lineWidth: 0 })}\`\`\``]),
  ].join("\n\n");
}

/** Settings below a path. Groups by name, by task and in lists stand once. */
function rowsOf(path: string, schema: Schema): readonly Row[] {
  const { properties, additionalProperties: values, items } = schema;
  if (properties !== undefined) {
    const entries = Object.entries(properties).map(([name, one]) => [name, objectOf(one)] as const);
    const [first] = entries;
    if (isUniform(schema) && first !== undefined) return rowsOf(`${path}.TASK`, first[1]);
    return entries.flatMap(([name, one]) => rowsOf(`${path}.${name}`, one));
  }
  if (isGroup(values)) return rowsOf(`${path}.NAME`, values);
  if (isGroup(items)) return rowsOf(`${path}[]`, items);
  return [{ path, schema }];
}

/** True for a group whose members are all of the same form, as the tasks of `auxiliary`. */
function isUniform({ properties = {} }: Schema): boolean {
  const forms = Object.values(properties).map((one) => JSON.stringify(one));
  return (
    forms.length > 1 && new Set(forms).size === 1 && objectOf(Object.values(properties)[0]).properties !== undefined
  );
}

function isGroup(schema: unknown): schema is Schema {
  return typeof schema === "object" && schema !== null && "properties" in schema;
}

function objectOf(schema: Schema | boolean | undefined): Schema {
  if (typeof schema !== "object") throw new Error("A setting has a schema without form.");
  return schema;
}

/** Example of a value; undefined when neither an example nor a form says one. */
function exampleOf(schema: Schema): unknown {
  const { examples, properties, additionalProperties: values, items } = schema;
  if (Array.isArray(examples)) return examples[0];
  if (properties !== undefined) {
    const chosen = isUniform(schema) ? Object.entries(properties).slice(0, 1) : Object.entries(properties);
    const members = chosen.map(([name, one]) => [name, exampleOf(objectOf(one))] as const);
    const found = Object.fromEntries(members.filter(([, value]) => value !== undefined));
    return Object.keys(found).length === 0 ? undefined : found;
  }
  if (isGroup(values)) return { "my-name": exampleOf(values) };
  if (isGroup(items)) return [exampleOf(items)];
  if (schema.default !== undefined) return isEmpty(schema.default) ? undefined : schema.default;
  return schema.enum?.[0] ?? (schema.type === "boolean" ? true : undefined);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function valuesOf({ enum: words, anyOf, type, minimum, maximum, exclusiveMinimum }: Schema): string {
  if (words !== undefined) return words.map(code).join(", ");
  if (anyOf !== undefined) return anyOf.map((one) => valuesOf(objectOf(one))).join(" or ");
  if (type === "boolean") return "`true`, `false`";
  if (type === "object") return "group";
  if (type === "array") return "list";
  if (type !== "number" && type !== "integer") return Array.isArray(type) ? type.join(" or ") : "text";
  const kind = type === "integer" ? "whole number" : "number";
  if (maximum !== undefined) return `${kind}, ${minimum ?? "above 0"} to ${maximum}`;
  if (exclusiveMinimum !== undefined) return `${kind}, above ${exclusiveMinimum}`;
  return minimum === undefined ? kind : `${kind}, ${minimum} or more`;
}

function code(value: unknown): string {
  return `\`${cell(typeof value === "string" ? value : JSON.stringify(value))}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
