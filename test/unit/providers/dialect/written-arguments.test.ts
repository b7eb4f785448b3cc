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

test.each([
  ["<text><h1>Hi</h1></text>", { text: "<h1>Hi</h1>" }],
  ["<body><p>Hi</p><p>Two</p></body>", { body: "<p>Hi</p><p>Two</p>" }],
  ["<parameter=text><b>1</b></parameter>", { text: "<b>1</b>" }],
  ["<old_str><a>1</a></old_str><new_str><a>2</a></new_str>", { old_str: "<a>1</a>", new_str: "<a>2</a>" }],
  ["<constructor>{}</constructor>", { constructor: {} }],
])("the elements within %s stay text under another name of a parameter", (written, read) => {
  const parameters = { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } };
  const parts = new WrittenParts({
    tools: [{ name: "write_file", description: "", parameters }],
    allowsBareJson: true,
  });
  const text = `<write_file><path>a.html</path>${written}</write_file>`;
  const begun = parts.take({ type: "text-delta", text });
  const ended = parts.finish({ type: "finish", reason: "stop", usage: undefined });
  expect(callsOf([...begun, ...ended])).toEqual([["write_file", JSON.stringify({ path: "a.html", ...read })]]);
});
