import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { describe, expect, test } from "vitest";
import { parseArguments } from "../../../agent-core/tools/call-arguments.ts";
import { tool as clarify } from "../../../agent-core/tools/clarify.ts";
import { fitArguments, fitRefused, respelled } from "../../../agent-core/tools/fit-arguments.ts";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import { tool as process } from "../../../agent-core/tools/process.ts";
import { tool as readFile } from "../../../agent-core/tools/read-file.ts";
import { tool as searchFiles } from "../../../agent-core/tools/search-files.ts";
import { tool as terminal } from "../../../agent-core/tools/terminal.ts";
import { tool as todo } from "../../../agent-core/tools/todo.ts";
import type { Tool } from "../../../agent-core/tools/tool.ts";
import { tool as writeFile } from "../../../agent-core/tools/write-file.ts";

const step = (content: string) => ({ id: "1", content, status: "pending" });

test.each([
  ["a fence", '```json\n{"path": "a```b"}\n```', { path: "a```b" }],
  ["a word before", 'json\n{"path": "a"}', { path: "a" }],
  ["a mark of Qwen around", '<tool_call>{"path": "a"}</tool_call>', { path: "a" }],
  ["a mark of Qwen behind", '{"path": "a"}\n</tool_call>', { path: "a" }],
  ["a token of Qwen's template behind", '{"path": "a"}<|im_end|>', { path: "a" }],
  ["a token of gpt-oss behind", '{"path": "a"}<|call|>', { path: "a" }],
  ["a zero byte behind", '{"path": "a"}\0', { path: "a" }],
  ["a byte order mark", '\ufeff{"path": "a"}', { path: "a" }],
  ["words behind", '{"path": "a"}\n\nNow I read it.', { path: "a" }],
  ["a brace too many", '{"path": "a"}}', { path: "a" }],
  ["a pattern with one backslash", '{"pattern": "\\d+\\s(a|b)\\."}', { pattern: "\\d+\\s(a|b)\\." }],
  ["a path of Windows", '{"path": "C:\\Code\\src"}', { path: "C:\\Code\\src" }],
  ["folders in capitals", '{"path": "C:\\Temp\\New\\Foo\\Bar"}', { path: "C:\\Temp\\New\\Foo\\Bar" }],
  ["an escaped dollar of a shell", '{"command": "echo \\$HOME \\"x\\""}', { command: 'echo \\$HOME "x"' }],
  ["None", "None", {}],
  ["undefined", "undefined", {}],
  ["an empty list", "[]", {}],
  ["an empty text", '""', {}],
])("arguments with %s are read", (_, json, value) => {
  expect(parseArguments(json)).toEqual({ ok: true, value });
});

test.each(['{"a": "say "}" now", "b": 1}', '{"path": "a"}{"path": "b"}', '{"path": "a'])(
  "arguments that a repair would shorten are refused: %s",
  (json) => expect(parseArguments(json).ok).toBe(false),
);

describe("arguments as models write them", () => {
  test.each<[string, Tool, unknown, unknown]>([
    ["numbers as text", readFile, { path: "a", offset: "3", limit: "40" }, { path: "a", offset: 3, limit: 40 }],
    ["a number with a fraction of zero", readFile, { path: "a", offset: "3.0" }, { path: "a", offset: 3 }],
    ["null for what is left out", readFile, { path: "a", offset: null, limit: null }, { path: "a" }],
    ["empty text for a number", readFile, { path: "a", limit: "" }, { path: "a" }],
    ["a number above its bound", readFile, { path: "a", limit: 99_999 }, { path: "a", limit: 2_000 }],
    ["a number below its bound", readFile, { path: "a", offset: 0 }, { path: "a", offset: 1 }],
    ["the name of Claude Code", readFile, { file_path: "a" }, { path: "a" }],
    ["the name of Cline's MCP tools", readFile, { filePath: "a", offset: "2" }, { path: "a", offset: 2 }],
    ["the name of Gemini CLI", readFile, { absolute_path: "/a" }, { path: "/a" }],
    ["a list around the arguments", readFile, [{ path: "a" }], { path: "a" }],
    ["a list around the path", readFile, { path: ["a"] }, { path: "a" }],
    ["a wrapper around the arguments", readFile, { arguments: { path: "a" } }, { path: "a" }],
    ["a wrapper with JSON text", readFile, { input: '{"path":"a"}' }, { path: "a" }],
    [
      "a whole call",
      writeFile,
      { name: "write_file", arguments: { path: "a", content: "b" } },
      { path: "a", content: "b" },
    ],
    [
      "a whole call in OpenAI's form",
      terminal,
      { type: "function", function: { arguments: '{"command":"ls"}' } },
      { command: "ls" },
    ],
    ["lines of a text", writeFile, { path: "a", content: ["x", "", "y"] }, { path: "a", content: "x\n\ny" }],
    ["lines with their ends", writeFile, { path: "a", content: ["x\n", "y\n"] }, { path: "a", content: "x\ny\n" }],
    ["a boolean as text", terminal, { command: "ls", background: "False" }, { command: "ls", background: false }],
    ["a boolean as a number", terminal, { command: "ls", pty: 1 }, { command: "ls", pty: true }],
    ["an abbreviated name", terminal, { cmd: "ls", cwd: "/tmp" }, { command: "ls", workdir: "/tmp" }],
    [
      "a value of an enum in capitals",
      searchFiles,
      { pattern: "x", target: "Files" },
      { pattern: "x", target: "files" },
    ],
    [
      "a value of an enum with a hyphen",
      searchFiles,
      { pattern: "x", output_mode: "files-only" },
      { pattern: "x", output_mode: "files_only" },
    ],
    ["another word for the pattern", searchFiles, { query: "x" }, { pattern: "x" }],
    [
      "the names of Codex's edit",
      patch,
      { path: "a", old_str: "x", new_str: "y" },
      { path: "a", old_string: "x", new_string: "y" },
    ],
    [
      "names in camel case",
      patch,
      { filePath: "a", oldString: "x", newString: "y" },
      { path: "a", old_string: "x", new_string: "y" },
    ],
    ["a list as JSON text", todo, { todos: JSON.stringify([step("x")]) }, { todos: [step("x")] }],
    [
      "a list as Python text",
      todo,
      { todos: "[{'id': 1, 'content': 'x', 'status': 'pending'}]" },
      { todos: [step("x")] },
    ],
    ["one item instead of a list", todo, { todos: step("x") }, { todos: [step("x")] }],
    ["a choice instead of a list", clarify, { question: "q", choices: "yes" }, { question: "q", choices: ["yes"] }],
    [
      "an object for the text of a file",
      writeFile,
      { path: "a.json", content: { a: 1 } },
      { path: "a.json", content: '{\n  "a": 1\n}' },
    ],
    ["a number for the text of a file", writeFile, { path: "a", content: 7 }, { path: "a", content: "7" }],
    ["a number for an id", process, { action: "log", id: 3, limit: "5" }, { action: "log", id: "3", limit: 5 }],
  ])("with %s fit the schema", (_, tool, raw, fitted) => {
    expect(tool.prepare(raw, "/w").ok).toBe(false);
    expect(fitRefused(raw, tool.schema.parameters)).toEqual(fitted);
    expect(tool.prepare(fitted, "/w").ok).toBe(true);
  });

  test.each<[string, Tool, unknown]>([
    ["a word for a number", readFile, { path: "a", limit: "many" }],
    ["a command only described", terminal, { description: "List the files" }],
    ["two candidates for one name", readFile, { file: "a", filename: "b" }],
    ["nothing at all", writeFile, {}],
    ["a list of words for a command", terminal, { command: ["rm", "x"] }],
    ["a value that no enum has", searchFiles, { pattern: "x", target: "symbols" }],
  ])("with %s are still refused", (_, tool, raw) => {
    expect(tool.prepare(fitRefused(raw, tool.schema.parameters), "/w").ok).toBe(false);
  });
});

describe("arguments of a foreign schema", () => {
  const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

  test.each<[string, object, unknown, unknown]>([
    [
      "a default of a required property is filled in",
      object({ scale: { enum: ["css"], default: "css" } }, { required: ["scale"] }),
      {},
      { scale: "css" },
    ],
    [
      "a nullable property keeps null",
      object({ a: { type: ["string", "null"] }, b: { type: "number" } }),
      { a: null, b: "1" },
      { a: null, b: 1 },
    ],
    [
      "a closed schema drops what it does not know",
      object({ a: { type: "string" } }, { additionalProperties: false }),
      { a: "x", random: 1 },
      { a: "x" },
    ],
    [
      "a branch is chosen by what fits",
      object({ a: { anyOf: [{ type: "number" }, { type: "array", items: { type: "number" } }] } }),
      { a: '["1","2"]' },
      { a: [1, 2] },
    ],
    [
      "a reference is followed",
      { $defs: { n: { type: "integer" } }, ...object({ a: { $ref: "#/$defs/n" } }) },
      { a: "4" },
      { a: 4 },
    ],
    [
      "nested objects fit",
      object({ o: object({ on: { type: "boolean" } }) }),
      { o: '{"on": "true"}' },
      { o: { on: true } },
    ],
    [
      "items of lists fit",
      object({ l: { type: "array", items: { type: "integer", exclusiveMinimum: 0 } } }),
      { l: ["1", 0] },
      { l: [1, 1] },
    ],
    [
      "parts of allOf fit",
      { allOf: [object({ a: { type: "number" } }), object({ b: { type: "boolean" } })] },
      { a: "1", b: "no" },
      { a: 1, b: false },
    ],
  ])("%s", (_, schema, raw, fitted) => {
    expect(fitArguments(raw, schema as Record<string, unknown>)).toEqual(fitted);
  });

  test.each([
    ["max-results", { "max-results": 4 }],
    ["maxResults", { maxResults: "4" }],
    ["MaxResults", { MaxResults: 4 }],
    ["max results", { "max results": 4 }],
    ["MAX_RESULTS", { MAX_RESULTS: "4" }],
  ])("another spelling of an optional name is that name: %s", (_, raw) => {
    const schema = { type: "object", properties: { max_results: { type: "integer" }, query: { type: "string" } } };
    expect(fitArguments({ query: "a", ...raw }, schema)).toEqual({ query: "a", max_results: 4 });
    expect(fitArguments({ ...raw, max_results: 2 }, schema)).toEqual({ ...raw, max_results: 2 });
    const open = { ...schema, additionalProperties: true };
    expect(fitArguments(raw, open)).toEqual(raw);
  });

  test("references that branch without end cost little, and change nothing", () => {
    const endless = { $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" };
    expect(fitArguments({ a: "1" }, endless)).toEqual({ a: "1" });
  });

  test("a value that fits is never changed", () => {
    const values = generator(20_261_128);
    const ajv = new AjvJsonSchemaValidator();
    let valid = 0;
    for (let round = 0; round < 120; round += 1) {
      const schema = values.schema(3);
      const check = ajv.getValidator(schema);
      for (let sample = 0; sample < 10; sample += 1) {
        const value = values.value(3);
        if (!check(value).valid) continue;
        valid += 1;
        expect(fitArguments(value, schema), JSON.stringify(schema)).toBe(value);
      }
    }
    expect(valid).toBeGreaterThan(100);
  });
});

/** Random schemas and values that often meet. */
function generator(seed: number) {
  let state = seed;
  const next = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % limit;
  };
  const names = ["path", "filePath", "limit", "a"];
  const scalars = ["1", "true", "", "null", "x", 1, 0, 2.5, 9, true, false, null, "[1]", '{"a":1}'];
  const value = (depth: number): unknown => {
    const kind = depth === 0 ? 0 : next(4);
    if (kind === 2) return Array.from({ length: next(3) }, () => value(depth - 1));
    if (kind === 3)
      return Object.fromEntries(names.slice(next(3), 2 + next(3)).map((name) => [name, value(depth - 1)]));
    return scalars[next(scalars.length)];
  };
  const schema = (depth: number): Record<string, unknown> => {
    switch (depth === 0 ? next(4) : next(8)) {
      case 0:
        return { type: ["string", "number", "integer", "boolean", "null"][next(5)] };
      case 1:
        return { type: "number", minimum: next(3), maximum: 3 + next(5) };
      case 2:
        return { enum: scalars.slice(next(8), 9 + next(4)) };
      case 3:
        return { type: ["string", "null", "array"] };
      case 4:
        return { type: "array", items: schema(depth - 1) };
      case 5:
        return { [["anyOf", "oneOf", "allOf"][next(3)] ?? "anyOf"]: [schema(depth - 1), schema(depth - 1)] };
      default:
        return {
          type: "object",
          properties: Object.fromEntries(names.slice(next(3)).map((name) => [name, schema(depth - 1)])),
          required: names.slice(3 - next(2)),
          ...(next(3) === 0 && { additionalProperties: false }),
        };
    }
  };
  return { schema, value };
}

const list = (items: object) => ({ type: "object", properties: { a: { type: "array", items } } });
const integer = { type: "integer" };
test.each([
  ["values of a map", { type: "object", additionalProperties: integer }, { a: "1" }, { a: 1 }],
  [
    "values of names by a pattern",
    { type: "object", patternProperties: { "^x-": integer } },
    { "x-a": "1" },
    { "x-a": 1 },
  ],
  ["a list by its numbers", list(integer), { a: { 0: 1, 1: "2" } }, { a: [1, 2] }],
  ["a list below a name", list(integer), { a: { item: ["1"] } }, { a: [1] }],
  ["an object in place of a list", list({ type: "object" }), { a: { x: 1 } }, { a: [{ x: 1 }] }],
  [
    "a choice by reference",
    { ...list({ $ref: "#/$defs/e" }), $defs: { e: { enum: ["open"] } } },
    { a: ["OPEN"] },
    { a: ["open"] },
  ],
])("%s fit the schema of a server's tool", (_, schema, written, fitted) => {
  expect(fitArguments(written, schema)).toEqual(fitted);
});

const text = { type: "string" };
const closed = (properties: object, required: readonly string[] = []) => ({ type: "object", properties, required });
test.each<[string, object, unknown, unknown]>([
  [
    "fields of FastMCP's only object",
    { ...closed({ params: { $ref: "#/$defs/P" } }, ["params"]), $defs: { P: closed({ q: text, n: integer }, ["q"]) } },
    { q: "x", n: "3" },
    { params: { q: "x", n: 3 } },
  ],
  [
    "an edit beside its file, for pi's list of edits",
    closed({ path: text, edits: { type: "array", items: closed({ oldText: text, newText: text }, ["oldText"]) } }, [
      "path",
      "edits",
    ]),
    { path: "p", oldText: "a", newText: "b" },
    { path: "p", edits: [{ oldText: "a", newText: "b" }] },
  ],
  ["a text for the only field", closed({ query: text }, ["query"]), "hello", { query: "hello" }],
  ["a list for the only field", closed({ paths: list(text).properties.a }, ["paths"]), ["a"], { paths: ["a"] }],
  ["arguments in a list below a name", closed({ q: text }, ["q"]), { args: [{ q: "x" }] }, { q: "x" }],
  ["an empty text for a needed list", list(text), { a: "" }, {}],
  [
    "null for a needed value with a default",
    closed({ b: { type: "boolean", default: false } }, ["b"]),
    { b: null },
    { b: false },
  ],
  [
    "numbers of more digits than a number holds",
    list(text),
    { a: "1174361234567890123,2" },
    { a: ["1174361234567890123", "2"] },
  ],
  ["a list of such numbers", list(text), { a: "[1174361234567890123]" }, { a: ["1174361234567890123"] }],
  ["numbers with commas between", list(integer), { a: "1271, 2106" }, { a: [1_271, 2_106] }],
  ["a list that was encoded twice", list(text), { a: '"[\\"x\\"]"' }, { a: ["x"] }],
  ["JSON in a fence", closed({ f: closed({ a: text }) }), { f: '```json\n{"a":"x"}\n```' }, { f: { a: "x" } }],
  ["an empty text below its least length", closed({ u: { type: "string", minLength: 1 } }), { u: "" }, {}],
  ["an empty list below its least length", closed({ u: { type: "array", minItems: 1 } }), { u: [] }, {}],
  ["a number that is not available", closed({ n: integer }), { n: "N/A" }, {}],
  ["an address by its other name", closed({ uri: text }, ["uri"]), { url: "x" }, { uri: "x" }],
])("%s fits the schema of a server's tool", (_, schema, written, fitted) => {
  expect(fitArguments(written, schema as Record<string, unknown>)).toEqual(fitted);
});

const filter = closed({ filter: { type: "object" } }, ["filter"]);
const call = closed({ path: text, content: text }, ["path", "content"]);
test.each<[string, object, unknown]>([
  ["null for a needed object", filter, { filter: null }],
  ["an empty text for a needed object", filter, { filter: "" }],
  ["an empty list for a needed object", filter, { filter: [] }],
  ["an empty text for a needed object of one field", closed({ f: closed({ a: text }, ["a"]) }, ["f"]), { f: "" }],
  ["null for a needed list", { ...list(text), required: ["a"] }, { a: null }],
  ["null in a row", list({ type: "array", items: text }), { a: [["Ann", null, "Berlin"]] }],
  ["null among parameters", list({ type: ["string", "number"] }), { a: ["a", null, 3] }],
  ["two calls in one", call, { files: [1, 2].map((each) => ({ path: `${each}`, content: "" })) }],
  ["a number with lost digits", closed({ n: { type: "number" } }), { n: "1174361234567890123" }],
  ["an empty text in a format", closed({ due: { type: "string", format: "date" } }), { due: "" }],
])("no value is invented or lost: %s", (_, schema, written) => {
  expect(fitRefused(written, schema as Record<string, unknown>)).toEqual(written);
});

test("another spelling that a server takes in silence is cured, and no value is changed", () => {
  const schema = closed({ due_date: text, limit: integer });
  const written = { dueDate: "", limit: "3", other: null };
  expect(respelled(written, schema)).toEqual({ due_date: "", limit: "3", other: null });
  for (const kept of [{ due_date: "", dueDate: "x" }, { url: "x" }, "x"]) expect(respelled(kept, schema)).toBe(kept);
  expect(respelled(written, { ...schema, additionalProperties: true })).toBe(written);
});

const texts = { type: "array", items: { type: "string" } };
test.each([
  ["of a search by Chroma", texts],
  ["or one text, as OpenAI's embeddings", { anyOf: [{ type: "string" }, texts] }],
  ["or one text, in types", { type: ["string", "array"] }],
  ["of any kind", undefined],
  ["of any kind, in words", { description: "Text or texts" }],
])("a list of texts %s stays a list beside a number that is fitted", (_, text) => {
  const schema = { type: "object", properties: { ...(text && { text }), n: integer } };
  expect(fitArguments({ text: ["a", "b"], n: "3" }, schema)).toEqual({ text: ["a", "b"], n: 3 });
});

test.each([{ type: "string" }, { type: ["string", "null"] }, { anyOf: [{ type: "string" }, { type: "null" }] }])(
  "lines of a text are joined for %j",
  (text) =>
    expect(fitArguments({ text: ["a", "b"] }, { type: "object", properties: { text } })).toEqual({ text: "a\nb" }),
);
