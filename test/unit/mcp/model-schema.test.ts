import { expect, test } from "vitest";
import { listTools } from "../../../agent-core/mcp/server-answers.ts";
import { modelSchema, soundSchema } from "../../../agent-core/mcp/server-schema.ts";

const string = { type: "string" };

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
  ["no properties", {}, [], undefined],
  ["a need beside its property", { properties: { a: {} }, allOf: [{ required: ["a"] }] }, ["a"], ["a"]],
  ["a list without items", { type: "object", properties: { a: { type: "array" } } }, ["a"], undefined],
])("the model gets a schema that all providers accept for %s", (_, inputSchema, keys, required) => {
  const { parameters } = modelSchema({ inputSchema: { type: "object", ...inputSchema } });
  expect(Object.keys(parameters["properties"] ?? {}).toSorted()).toEqual(keys.toSorted());
  expect(parameters["required"]).toEqual(required);
  for (const key of ["oneOf", "anyOf", "allOf"]) expect(parameters).not.toHaveProperty(key);
  expect(parameters).toMatchObject({ type: "object", properties: {} });
});

test.each([
  { properties: { a: string, b: string }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
  { properties: { a: string }, not: { required: ["a", "b"] } },
  { $ref: "#/$defs/x", required: ["a"] },
  { required: ["a"], additionalProperties: string },
])("the model sees what a part needs beside the place of its properties: %j", (part) => {
  const { parameters } = modelSchema({ inputSchema: { type: "object", properties: { part } } });
  expect(parameters).toMatchObject({ properties: { part } });
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

test.each([{ content: "no tools" }, { content: { type: "text", text: "no tools" } }])(
  "a list that is only words has no tools: %j",
  async (page) =>
    expect(await listTools(async () => ({ ...page, nextCursor: undefined }))).toEqual({ items: [], problems: [] }),
);

test.each([
  [
    "a list of places",
    { type: "array", items: [string, { type: "integer" }] },
    { anyOf: [string, { type: "integer" }] },
  ],
  ["places of a newer dialect", { type: "array", prefixItems: [string, string] }, string],
  ["a list of anything", { type: "array", items: true }, {}],
  ["a list without items", { type: "array" }, {}],
])("%s has one schema for its items", (_, written, items) => {
  expect(soundSchema({ properties: { a: written } })).toMatchObject({ properties: { a: { items } } });
});

test.each([
  ["types in capitals", { type: "STRING" }, string],
  ["a type that nobody knows", { type: "date" }, {}],
  ["null for what is left out", { type: null, description: null, default: null, maxItems: null }, {}],
  [
    "a bound of an older dialect",
    { type: "number", minimum: 0, exclusiveMinimum: true },
    { type: "number", minimum: 0 },
  ],
  ["need inside of a property", { type: "string", required: true }, string],
  ["need twice", { type: "object", required: ["a", "a", 1] }, { type: "object", required: ["a"] }],
  ["no choice", { type: "string", enum: [] }, string],
  ["a pattern of another language", { type: "string", pattern: "^(?i)a\\z" }, string],
  ["null by OpenAPI", { type: "string", nullable: true, enum: ["a"] }, { type: ["string", "null"], enum: ["a", null] }],
  ["null without a type", { nullable: true }, {}],
  ["another document", { $ref: "https://json-schema.org/draft-07/schema#" }, {}],
  ["a definition that is not there", { $ref: "#/definitions/Missing" }, {}],
  ["words of its own", { type: "string", "x-go-type": "Foo", deprecated: true }, string],
  ["a schema of itself", { $ref: "#" }, { $ref: "#" }],
  ["a reference that is not encoded", { $ref: "#/$defs/50%" }, {}],
  ["anything", true, {}],
])("the sound rest of a part with %s remains", (_, written, sound) => {
  expect(soundSchema({ $schema: "http://json-schema.org/draft-04/schema#", properties: { a: written } })).toEqual({
    type: "object",
    properties: { a: sound },
  });
});

test.each([null, undefined, "{}", [], { type: "array", items: string }, { properties: null }])(
  "a tool with the schema %j takes any arguments",
  (written) => expect(soundSchema(written)).toMatchObject({ type: "object" }),
);
