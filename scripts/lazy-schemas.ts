/**
 * Builds zod schemas at their first use in the bundles. Built while modules load, they take 40 of the 160 ms of processor
 * time from the start to the first request (30 of 115 to `initialize`). The other patches keep a first parse from
 * building and compiling all schemas. A file of another form than expected fails the build; a test compares all schemas.
 * Only `z.toJSONSchema` cannot read them; scripts/ready-made.ts calls it before.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import ts from "typescript";
import { ACP_MODULES, leanApps, leanConnections } from "./acp-library.ts";

/** Module of the bundle that exports `lazySchema`. */
const RUNTIME = "hermes:lazy-schema";

/**
 * `lazySchema(build)` acts as the schema that `build` returns, and calls it when something of the schema is read.
 * `taggedUnion(tag, options, build)` acts as the union that `build` returns, and builds only the option that a value names
 * in its field `tag`: all options of a session's updates take 12 ms. The union itself explains a value that does not fit.
 */
const runtime = `
const built = (holder) => (holder.schema ??= holder.build());
const handler = {
  get: (holder, key) => built(holder)[key],
  set: (holder, key, value) => Reflect.set(built(holder), key, value),
  has: (holder, key) => key in built(holder),
  getPrototypeOf: (holder) => Object.getPrototypeOf(built(holder)),
  ownKeys: (holder) => Reflect.ownKeys(built(holder)),
  getOwnPropertyDescriptor: (holder, key) => {
    const found = Reflect.getOwnPropertyDescriptor(built(holder), key);
    return found && { ...found, configurable: true };
  },
};
export const lazySchema = (build) => new Proxy({ build, schema: undefined }, handler);
export const taggedUnion = (tag, options, build) => {
  const union = lazySchema(build);
  const run = (payload, context) => {
    const { value } = payload;
    const option = Object.hasOwn(options, value?.[tag]) ? options[value[tag]] : undefined;
    const result = option?._zod.run({ value, issues: [] }, context);
    return result?.issues?.length === 0 ? result : union._zod.run(payload, context);
  };
  const own = { run, optin: undefined, optout: undefined };
  const inner = new Proxy({}, { get: (_, key) => (Object.hasOwn(own, key) ? own[key] : union._zod[key]) });
  return new Proxy(union, { get: (_, key) => (key === "_zod" ? inner : union[key]) });
};
`;

/** Module of the bundle with zod's code for JSON schemas, as far as it is loaded. */
const JSON_SCHEMAS = "hermes:json-schemas";

/** Part of zod that each schema refers to, and that only `z.toJSONSchema` runs: its first importer fills it. */
const jsonSchemas = `
export const jsonSchemas = {};
export const createToJSONSchemaMethod = (...values) => jsonSchemas.createToJSONSchemaMethod(...values);
export const createStandardJSONSchemaMethod = (...values) => (params) =>
  jsonSchemas.createStandardJSONSchemaMethod(...values)(params); // libraries read it beside the check, and seldom call it
`;

/** Members of zod and of its schemas that give no schema. */
const GIVES_NONE = /^(?:config|core|globalRegistry|parse|prettifyError|registry|safeParse|toJSONSchema)$/;
/** Members of schemas that give a schema made from one that has a name. */
const DERIVES =
  /^(?:and|array|catch|default|extend|nullable|nullish|optional|or|partial|pick|refine|strict|transform)$/;

/** Statement of the ACP library's generated file: the name of a schema, and the expression that builds it. */
const GENERATED = /^export const (z\w+) = ([\s\S]*?);$(?=\n(?:\/\*\*|export |\/\/#))/gm;

/** Option of a union in the generated file: its schema, the field with its name, and the name. */
const TAGGED = /z\w+\.and\(z\.object\(\{\s*(\w+): z\.literal\("(\w+)"\),?\s*\}\)\)/g;

/** Optional value in the generated file. Most schemas have the same ones, such as `_meta`. */
const OPTIONAL = /defaultOnError\([^;\n]*?\.nullish\(\), \(\) => undefined\)/g;

/** Parses after which zod compiles a schema of an object: compiling takes as long as some 50 parses without it. */
const PARSES_BEFORE_COMPILING = 20;

export const lazySchemas: Plugin = {
  name: "lazy-schemas",
  setup(build) {
    build.onResolve({ filter: /^hermes:lazy-schema$/ }, () => ({ path: RUNTIME, namespace: "lazy-schemas" }));
    for (const [name, path] of Object.entries(ACP_MODULES)) {
      build.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: fileURLToPath(import.meta.resolve(path)) }));
    }
    build.onResolve({ filter: /^hermes:json-schemas$/ }, () => ({ path: JSON_SCHEMAS, namespace: "lazy-schemas" }));
    build.onLoad({ filter: /.*/, namespace: "lazy-schemas" }, ({ path }) => ({
      contents: path === RUNTIME ? runtime : jsonSchemas,
    }));
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]classic[\\/]schemas\.js$/ }, ({ path }) => ({
      contents: withoutJsonSchemas(readFileSync(path, "utf8")),
    }));
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/](?:core[\\/]index|classic[\\/]external)\.js$/ }, ({ path }) => ({
      // An export of the package's index would load the code with the index.
      contents: readFileSync(path, "utf8").replaceAll(
        /^export .* from "\.[./\w]*\/(?:to-json-schema|json-schema-processors|json-schema-generator)\.js";$/gm,
        "",
      ),
    }));
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/]json-schema-processors\.js$/ }, ({ path }) => ({
      contents: withRegistration(readFileSync(path, "utf8")),
    }));
    build.onLoad({ filter: /[\\/](?:agent-core|cli|gateway|batch|extension)[\\/].*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      return source.includes('from "zod"')
        ? { contents: importToJsonSchema(deferSchemas(path, source)), loader: "ts" }
        : undefined;
    });
    build.onLoad({ filter: /agent-client-protocol[\\/]dist[\\/]v1[\\/]schema[\\/]guards\.gen\.js$/ }, ({ path }) => ({
      contents: deferSchemas(path, readFileSync(path, "utf8")),
    }));
    build.onLoad({ filter: /agent-client-protocol[\\/]dist[\\/]v1[\\/]schema[\\/]zod\.gen\.js$/ }, ({ path }) => ({
      contents: deferGeneratedSchemas(readFileSync(path, "utf8")),
    }));
    build.onLoad({ filter: /agent-client-protocol[\\/]dist[\\/]v1[\\/]stable[\\/]acp\.js$/ }, ({ path }) => ({
      contents: leanApps(readFileSync(path, "utf8")),
    }));
    build.onLoad({ filter: /agent-client-protocol[\\/]dist[\\/]core[\\/]jsonrpc\.js$/ }, ({ path }) => ({
      contents: leanConnections(readFileSync(path, "utf8")),
    }));
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/]schemas\.js$/ }, ({ path }) => ({
      contents: compileLater(readFileSync(path, "utf8")),
    }));
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/]memoizer\.js$/ }, ({ path }) => ({
      contents: withoutCycles(readFileSync(path, "utf8")),
    }));
  },
};

/** The module with each schema that it would build while it loads made lazy. */
export function deferSchemas(path: string, source: string): string {
  const expressions: ts.Expression[] = [];
  // Names from other files: the ACP library's for all schemas of a file, and schemas of our own that others extend.
  const schemas = new Set(["validate", "inSession", "HermesHookRun"]);
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) || ts.isTypeNode(node)) return;
    if (buildsSchema(node, schemas)) expressions.push(node);
    else ts.forEachChild(node, visit);
    if (!ts.isVariableDeclaration(node) || !ts.isIdentifier(node.name)) return;
    if (node.initializer !== undefined && node.initializer === expressions.at(-1)) schemas.add(node.name.text);
  };
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest);
  visit(file);
  if (expressions.length === 0) return source;
  let text = source;
  for (const expression of expressions.toReversed()) {
    const [start, end] = [expression.getStart(file), expression.end];
    text = `${text.slice(0, start)}lazySchema(() => ${text.slice(start, end)})${text.slice(end)}`;
  }
  return `import { lazySchema } from "${RUNTIME}";${text}`;
}

/** Functions of agent-core/config/setting.ts that give a schema. */
const OWN_BUILDERS: ReadonlySet<string> = new Set(["group", "setting"]);

/** True for a call such as `z.object({ … }).strict()`, or `base.extend({ … })` with a schema of the file. */
function buildsSchema(node: ts.Node, schemas: ReadonlySet<string>): node is ts.CallExpression {
  const members: string[] = [];
  let root = node;
  while (ts.isCallExpression(root) && ts.isPropertyAccessExpression(root.expression)) {
    members.push(root.expression.name.text);
    root = root.expression.expression;
  }
  if (ts.isCallExpression(root) && ts.isIdentifier(root.expression) && OWN_BUILDERS.has(root.expression.text))
    return true;
  if (members.length === 0) return false;
  if (ts.isPropertyAccessExpression(root) && root.name.text === "coerce") root = root.expression; // `z.coerce`
  if (ts.isIdentifier(root) && root.text === "z") return !members.some((member) => GIVES_NONE.test(member));
  if (ts.isPropertyAccessExpression(root)) root = root.expression; // `validate.zName`
  return ts.isIdentifier(root) && schemas.has(root.text) && members.every((member) => DERIVES.test(member));
}

/**
 * Defers all schemas, and shares equal optional values: building one for each schema takes 2 ms of a start. Throws when the
 * file has another form than these patterns expect: a new version of the library must not undo it.
 */
function deferGeneratedSchemas(source: string): string {
  const all = source.match(/^export /gm)?.length ?? 0;
  let deferred = 0;
  const lazy = source.replace(GENERATED, (_, name, schema) => {
    deferred += 1;
    return `export const ${name} = /* @__PURE__ */ ${taggedUnion(schema) ?? `lazySchema(() => ${schema})`};`;
  });
  if (deferred === 0 || deferred !== all) throw new Error(`${deferred} of ${all} schemas of the ACP library are lazy.`);
  const optional: string[] = [];
  const shared = lazy.replace(OPTIONAL, (expression) => {
    if (!optional.includes(expression)) optional.push(expression);
    return `(optional[${optional.indexOf(expression)}] ??= ${expression})`;
  });
  return `import { lazySchema, taggedUnion } from "${RUNTIME}";const optional = [];${shared}`;
}

/** A union whose options have their names in one field; undefined for any other schema. */
function taggedUnion(schema: string): string | undefined {
  if (schema.replaceAll(TAGGED, "").replaceAll(/[\s,]/g, "") !== "z.union([])") return undefined;
  const options = [...schema.matchAll(TAGGED)];
  const [tag, ...others] = new Set(options.map(([, field]) => field));
  if (tag === undefined || others.length > 0) return undefined;
  const named = options.map(([option, , name]) => `${name}: lazySchema(() => ${option})`);
  return `((options) => taggedUnion("${tag}", options, () => z.union(Object.values(options))))({ ${named.join(", ")} })`;
}

/** zod's schemas without the code that writes them as JSON schemas, a fifth of zod. Throws as the function above. */
function withoutJsonSchemas(source: string): string {
  const processors = 'import * as processors from "../core/json-schema-processors.js";';
  const methods =
    /import (\{ createStandardJSONSchemaMethod, createToJSONSchemaMethod \}) from "\.\.\/core\/to-json-schema\.js";/;
  if (!source.includes(processors) || !methods.test(source))
    throw new Error("zod imports its JSON schemas in another way.");
  return source
    .replace(processors, `import { jsonSchemas as processors } from "${JSON_SCHEMAS}";`)
    .replace(methods, `import $1 from "${JSON_SCHEMAS}";`);
}

/** A file that uses `z.toJSONSchema` imports it from its own module. */
function importToJsonSchema(source: string): string {
  if (!source.includes("z.toJSONSchema(")) return source;
  const file = fileURLToPath(new URL("./json-schema-processors.js", import.meta.resolve("zod/v4/core")));
  return `import { toJSONSchema } from ${JSON.stringify(file)};${source.replaceAll("z.toJSONSchema(", "toJSONSchema(")}`;
}

/** The code that writes JSON schemas, which makes itself known to the schemas when it is loaded. */
function withRegistration(source: string): string {
  const names = [...source.matchAll(/^export const (\w+Processor) =/gm)].map(([, name]) => name);
  if (names.length === 0) throw new Error("zod names the code for JSON schemas in another way.");
  return `import { jsonSchemas } from "${JSON_SCHEMAS}";import * as making from "./to-json-schema.js";${source}
Object.assign(jsonSchemas, making, { ${names.join(", ")} });`;
}

/**
 * zod asks each schema at its first parse whether it contains itself, to follow cycles in the input; that would build
 * every schema it refers to. All input here is parsed JSON or YAML, and no schema contains itself.
 */
function withoutCycles(source: string): string {
  const [current, replacement] = [
    "return memo;",
    "return { alloc: (_, __, empty) => empty, guard() {}, attach() {} };",
  ];
  if (!source.includes(current))
    throw new Error("zod's memoizer has another form than scripts/lazy-schemas.ts expects.");
  return source.replace(current, replacement);
}

/** Most schemas parse a message or two; zod compiles each at its first parse otherwise. Throws as the function above. */
function compileLater(source: string): string {
  const [state, condition] = ["    let fastpass;\n", "if (jit && fastEnabled && "];
  if (!source.includes(state) || source.split(condition).length !== 2) {
    throw new Error("zod compiles schemas of objects in another way than scripts/lazy-schemas.ts expects.");
  }
  return source
    .replace(state, `${state}    let parses = 0;\n`)
    .replace(condition, `${condition}(parses += 1) > ${PARSES_BEFORE_COMPILING} && `);
}
