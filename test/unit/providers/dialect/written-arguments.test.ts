import { expect, test } from "vitest";
import { WrittenParts } from "../../../../agent-core/providers/dialect/written-parts.ts";
import type { ToolSchema } from "../../../../agent-core/providers/wire/wire.ts";
import { callsOf } from "../../../conformance/collect.ts";

test.each([
  ["a description alone", { description: "How deep" }],
  ["any value", true],
  ["one of several types", { anyOf: [{ type: "integer" }, { type: "null" }] }],
  ["a definition elsewhere", { $ref: "#/$defs/depth" }],
])("a tool whose schema has %s for a property is called by elements", (_, depth) => {
  const properties = { depth, name: { type: "string" } };
  const list: ToolSchema = { name: "list", description: "", parameters: { type: "object", properties } };
  const parts = new WrittenParts({ tools: [list], allowsBareJson: true });
  const text = "<function=list>\n<parameter=name>\n2\n</parameter>\n<parameter=depth>\n2\n</parameter>\n</function>";
  const begun = parts.take({ type: "text-delta", text });
  const ended = parts.finish({ type: "finish", reason: "stop", usage: undefined });
  expect(callsOf([...begun, ...ended])).toEqual([["list", '{"name":"2","depth":2}']]);
});

const file = (depth: number): string => `<file>\n<depth>${depth}</depth>\n<range>1-5</range>\n</file>`;
test.each([
  ["one file", file(2), { depth: "2", range: "1-5" }],
  [
    "two files",
    `${file(2)}\n${file(3)}`,
    [
      { depth: "2", range: "1-5" },
      { depth: "3", range: "1-5" },
    ],
  ],
])("a call with %s in Roo's elements within elements has them all", (_, files, read) => {
  const parameters = { type: "object", properties: { depth: { type: "string" } } };
  const parts = new WrittenParts({ tools: [{ name: "list", description: "", parameters }], allowsBareJson: true });
  const begun = parts.take({ type: "text-delta", text: `I look.\n\n<list>\n<args>\n${files}\n</args>\n</list>` });
  const ended = parts.finish({ type: "finish", reason: "stop", usage: undefined });
  expect(callsOf([...begun, ...ended])).toEqual([["list", JSON.stringify({ file: read })]]);
});
