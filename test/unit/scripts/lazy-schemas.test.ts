import { globSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { deferSchemas, lazySchemas } from "../../../scripts/lazy-schemas.ts";

const deferred = (source: string): string => deferSchemas("a.ts", source).replace(/^import .*?;/, "");

test("the plugin defers each schema that a module builds while it loads", () => {
  expect(deferred("export const name = z.string().min(1);")).toBe(
    "export const name = lazySchema(() => z.string().min(1));",
  );
  expect(deferred("export const sections = { a: z.int(), b: [z.string()] };")).toBe(
    "export const sections = { a: lazySchema(() => z.int()), b: [lazySchema(() => z.string())] };",
  );
  expect(deferred("const a = z.coerce.number().min(0);")).toBe("const a = lazySchema(() => z.coerce.number().min(0));");
  expect(deferred("const a = z.object({}) satisfies z.ZodType<A>;")).toBe(
    "const a = lazySchema(() => z.object({})) satisfies z.ZodType<A>;",
  );
});

test("the plugin defers a setting of config.yaml and a group of settings as a whole", () => {
  expect(deferred('const a = group({ b: setting("B.", z.string()) }).prefault({});')).toBe(
    'const a = lazySchema(() => group({ b: setting("B.", z.string()) }).prefault({}));',
  );
});

test("the plugin defers a schema that is made from another one of the module", () => {
  expect(deferred("const a = z.object({});\nconst b = a.extend({ c: a.optional() });")).toBe(
    "const a = lazySchema(() => z.object({}));\nconst b = lazySchema(() => a.extend({ c: a.optional() }));",
  );
});

test.each([
  ["a function", "const schemaOf = (name: string) => z.object({ name });"],
  ["a type", "type A = z.infer<typeof a>;"],
  ["what is read from a schema", "const names = new Set(a.options.map(String)); const b = z.core.a;"],
  ["what is no schema", "const { $schema } = z.toJSONSchema(a);"],
])("the plugin leaves %s as it is", (_, source) => {
  expect(deferred(source)).toBe(source);
});

/** Updates of a session: some of each fit, have a wrong field, or name no option. */
const UPDATES = [
  { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "a" }, more: 1 },
  { sessionUpdate: "session_info_update", title: "a", _meta: { hermes: {} } },
  { sessionUpdate: "usage_update", used: 1, size: 2 },
  { sessionUpdate: "tool_call", toolCallId: "1", title: "a", content: [{ type: "diff", path: "/a", newText: "b" }] },
  { sessionUpdate: "plan", entries: 1 },
  { sessionUpdate: "agent_message_chunk", content: { type: "text" } },
  ...[{ sessionUpdate: "toString" }, { sessionUpdate: 1 }, {}, null, "plan", []],
];

/** Definition of each schema of the ACP library and of our protocol, by file and name, from a bundle. */
async function describedBy(bundle: string, plugins: readonly (typeof lazySchemas)[]): Promise<Record<string, string>> {
  const library = "node_modules/@zed-industries/agent-client-protocol/dist/v1/schema/zod.gen.js";
  const files = [library, ...globSync("agent-core/protocol/*.ts")].sort();
  const outfile = join(mkdtempSync(join(tmpdir(), "schemas-")), bundle);
  await build({
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "silent",
    plugins: [...plugins],
    stdin: {
      resolveDir: resolve("."),
      contents: `
        ${files.map((file, index) => `import * as file${index} from "./${file}";`).join("\n")}
        const plain = (name, value) => {
          if (value?._zod) return { ...value._zod.def, checks: undefined, checked: value._zod.def.checks?.length };
          return typeof value === "function" ? "function" : value instanceof RegExp ? String(value) : value;
        };
        const describe = (schema) => JSON.stringify({ schema }, plain);
        export const described = Object.fromEntries([${files.map((_, index) => `file${index}`)}].flatMap((file, index) =>
          Object.entries(file).flatMap(([name, value]) => value?._zod ? [[index + name, describe(value)]] : [])));
        const { zSessionNotification } = file${files.indexOf(library)};
        described.updates = JSON.stringify(${JSON.stringify(UPDATES)}.map((update) =>
          zSessionNotification.safeParse({ sessionId: "s", update })));
      `,
    },
  });
  const { described } = await import(outfile);
  return described;
}

test("each deferred schema says the same as the one that it replaces", async () => {
  const [eager, lazy] = [await describedBy("eager.mjs", []), await describedBy("lazy.mjs", [lazySchemas])];
  expect(Object.keys(eager).length).toBeGreaterThan(200);
  expect(lazy).toEqual(eager);
});
