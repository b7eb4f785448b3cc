import { expect, test } from "vitest";
import { deferSchemas } from "../../../scripts/lazy-schemas.ts";

const deferred = (source: string): string => deferSchemas("a.ts", source).replace(/^import .*?;/, "");

test("defers each schema that a module builds while it loads", () => {
  expect(deferred("export const name = z.string().min(1);")).toBe(
    "export const name = lazySchema(() => z.string().min(1));",
  );
  expect(deferred("export const sections = { a: z.int(), b: [z.string()] };")).toBe(
    "export const sections = { a: lazySchema(() => z.int()), b: [lazySchema(() => z.string())] };",
  );
  expect(deferred("const a = z.object({}) satisfies z.ZodType<A>;")).toBe(
    "const a = lazySchema(() => z.object({})) satisfies z.ZodType<A>;",
  );
});

test("defers a schema that is made from another one of the module", () => {
  expect(deferred("const a = z.object({});\nconst b = a.extend({ c: a.optional() });")).toBe(
    "const a = lazySchema(() => z.object({}));\nconst b = lazySchema(() => a.extend({ c: a.optional() }));",
  );
});

test.each([
  ["a function", "const schemaOf = (name: string) => z.object({ name });"],
  ["a type", "type A = z.infer<typeof a>;"],
  ["what is read from a schema", "const names = new Set(a.options.map(String)); const b = z.core.a;"],
  ["what is no schema", "const { $schema } = z.toJSONSchema(a);"],
])("leaves %s as it is", (_, source) => {
  expect(deferred(source)).toBe(source);
});
