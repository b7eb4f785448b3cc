import { expect, test, vi } from "vitest";
import { argumentCheck } from "../../../agent-core/tools/argument-check.ts";

test("a pattern that backtracks for years does not hold up the agent, and the arguments are passed on", () => {
  const check = argumentCheck({ type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } });
  expect(check({ a: "aaa" })).toBeUndefined();
  expect(check({ a: "b" })).toContain("must match pattern");
  expect(check({ a: `${"a".repeat(60)}!` })).toBeUndefined();
});

test("references that branch at each level, a thousand million in all, are given up", () => {
  const $defs: Record<string, object> = { level30: { type: "number" } };
  for (let level = 0; level < 30; level += 1) {
    const next = { $ref: `#/$defs/level${level + 1}` };
    $defs[`level${level}`] = { anyOf: [next, next] };
  }
  const check = argumentCheck({ type: "object", properties: { a: { $ref: "#/$defs/level0" } }, $defs });
  expect(check({ a: "x" })).toBeUndefined();
});

test("a huge schema is refused with a reason, and one that refers to itself without end checks nothing", () => {
  const huge = {
    type: "object",
    properties: { a: { enum: Array.from({ length: 50_000 }, (_, index) => `v${index}`) } },
  };
  expect(() => argumentCheck(huge)).toThrow(/^it has \d+ characters; the limit is 100000$/);
  const endless = { type: "object", properties: { a: { $ref: "#/properties/a" } } };
  expect(argumentCheck(endless)({ a: 1 })).toBeUndefined();
});

test("two schemas with one $id are two schemas", () => {
  const first = argumentCheck({ $id: "tool", type: "object", required: ["a"] });
  const second = argumentCheck({ $id: "tool", type: "object", required: ["b"] });
  expect([first({ a: 1 }), second({ b: 1 })]).toEqual([undefined, undefined]);
});

test("a format that the validator does not know writes nothing to the console, and a property of that name is checked", () => {
  const written = vi.spyOn(console, "warn");
  const text = { type: "string", format: "json" };
  const check = argumentCheck({ type: "object", properties: { icon: text, format: { enum: ["x"] } } });
  expect(check({ icon: "{" })).toBeUndefined();
  expect(check({ icon: 1 })).toContain("data/icon must be string");
  expect(check({ format: "y" })).toContain("data/format");
  expect(written).not.toHaveBeenCalled();
  written.mockRestore();
});

test.each([
  ["a const of an OpenAPI tool", { const: { type: "string", format: "date" } }, { type: "string", format: "date" }],
  ["an enum of columns", { enum: [{ type: "text", format: "%d" }] }, { type: "text", format: "%d" }],
  ["a choice in a list", { anyOf: [{ items: { const: { type: 1, format: "a" } } }] }, [{ type: 1, format: "a" }]],
  ["a property named const", { properties: { const: { type: "string", format: "json" } } }, { const: "{" }],
  [
    "a property named properties",
    { properties: { properties: { format: "csv", type: "string" } } },
    { properties: "" },
  ],
])("the formats in values stay and others go: %s", (_, schema, value) => {
  const written = vi.spyOn(console, "warn");
  expect(argumentCheck({ type: "object", properties: { a: schema } })({ a: value })).toBeUndefined();
  expect(written).not.toHaveBeenCalled();
  written.mockRestore();
});

const pair = { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false };
test.each<[string, object, unknown, boolean]>([
  ["a pair", { properties: { a: pair } }, { a: ["x", 1] }, true],
  ["a pair in the wrong order", { properties: { a: pair } }, { a: [1, "x"] }, false],
  ["a third item of a pair", { properties: { a: pair } }, { a: ["x", 1, 2] }, false],
  ["a field that no part knows", { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, { b: 1 }, false],
  ["a field without the other", { dependentRequired: { a: ["b"] } }, { a: 1 }, false],
])("a schema is one of 2020-12 unless it names another: %s", (_, schema, value, isValid) => {
  expect(argumentCheck({ type: "object", ...schema })(value) === undefined).toBe(isValid);
});
