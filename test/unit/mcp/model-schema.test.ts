import { expect, test } from "vitest";
import { listTools } from "../../../agent-core/mcp/server-answers.ts";
import { modelSchema } from "../../../agent-core/mcp/server-tools.ts";

test.each([
  [
    "branches at the top",
    { type: "object", oneOf: [{ properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: {} } }] },
    ["a", "b"],
    undefined,
  ],
  [
    "alternatives that share a need",
    {
      anyOf: [
        { required: ["a"], properties: { a: {} } },
        { required: ["a", "b"], properties: { b: {} } },
      ],
    },
    ["a", "b"],
    ["a"],
  ],
  [
    "parts that all hold",
    {
      allOf: [{ $ref: "#/$defs/x" }, { required: ["b"], properties: { b: {} } }],
      $defs: { x: { required: ["a"], properties: { a: {} } } },
    },
    ["a", "b"],
    ["a", "b"],
  ],
  [
    "keys of OData",
    { type: "object", properties: { $filter: {}, filter: {}, "top[0]": {} }, required: ["$filter"] },
    ["filter_", "filter", "top_0_"],
    ["filter_"],
  ],
  ["a list without items", { type: "object", properties: { a: { type: "array" } } }, ["a"], undefined],
])("the model gets a schema that all providers accept for %s", (_, inputSchema, keys, required) => {
  const { parameters } = modelSchema({ inputSchema: { type: "object", ...inputSchema } });
  expect(Object.keys(parameters["properties"] ?? {}).toSorted()).toEqual(keys.toSorted());
  expect(parameters["required"]).toEqual(required);
  for (const key of ["oneOf", "anyOf", "allOf"]) expect(parameters).not.toHaveProperty(key);
  expect(parameters["type"]).toBe("object");
});

test("the server gets its own keys back, at each depth", () => {
  const inner = { type: "object", properties: { "@id": { type: "string" } } };
  const { original } = modelSchema({
    inputSchema: { type: "object", properties: { $filter: { type: "array", items: inner } } },
  });
  expect(original?.({ filter: [{ id: "x" }], other: 1 })).toEqual({ $filter: [{ "@id": "x" }], other: 1 });
});

test.each([
  ["no description", { title: null, description: null }],
  ["no annotations", { annotations: null }],
  ["hints without a value", { annotations: { title: null, readOnlyHint: null } }],
  ["no type", { inputSchema: { properties: {} } }],
  ["a list of types", { inputSchema: { type: ["object", "null"], properties: {} } }],
])("a tool with %s is used", async (_, more) => {
  const raw = { name: "t", inputSchema: { type: "object" }, ...more };
  let asked = 0;
  const { items, problems } = await listTools(async (cursor) => {
    asked += 1;
    return { tools: [raw, raw], nextCursor: cursor === "b" ? "a" : "b" }; // a cursor that goes round
  });
  expect([items.map(({ name }) => name), problems, asked]).toEqual([["t"], [], 3]);
});
