// Calls that a model shows to people do not run, whatever their format; and further formats in which models write calls.
import { expect, test } from "vitest";
import { type WrittenOptions, WrittenParts } from "../../../../agent-core/providers/dialect/written-parts.ts";
import type { ToolSchema } from "../../../../agent-core/providers/wire/wire.ts";
import { callsOf, joined } from "../../../conformance/collect.ts";

const parameters = { type: "object", properties: { depth: { type: "integer" } } };
const tools: readonly ToolSchema[] = ["list", "mcp__fs__list_dir"].map((name) => ({
  name,
  description: "",
  parameters,
}));

function read(text: string, chars: number, options: Partial<WrittenOptions> = {}) {
  const parts = new WrittenParts({ tools, allowsBareJson: true, ...options });
  const pieces = text.match(new RegExp(`[^]{1,${chars}}`, "gu")) ?? [];
  const events = pieces.flatMap((piece) => parts.take({ type: "text-delta", text: piece }));
  return [...events, ...parts.finish({ type: "finish", reason: "stop", usage: undefined })];
}

const JSON_CALL = '{"name": "list", "arguments": {"depth": 2}}';
const formats = [
  `<tool_call>${JSON_CALL}</tool_call>`,
  "<function=list><parameter=depth>2" + "</" + "parameter></function>",
  '[TOOL_CALLS]list{"depth": 2}',
  "<|tool_call_start|>[list(depth=2)]<|tool_call_end|>",
  '<function=list({"depth": 2})</function>',
  "<list><depth>2</depth></list>",
  "<tool_call>\n{name: 'list', arguments: {depth: 2}}\n</tool_call>",
  `&lt;tool_call&gt;${JSON_CALL.replaceAll('"', "&quot;")}&lt;/tool_call&gt;`,
  "&lt;list&gt;&lt;depth&gt;2&lt;/depth&gt;&lt;/list&gt;",
  '<|channel|>commentary to=list <|constrain|>json<|message|>{"depth": 2}<|call|>',
];
const prefixes = ["> ", "- ", "* ", "1. ", "// ", "# ", "| ", "  > ", "> - "];
const citations = [
  ...["Usage: `", '"', "```xml\n"].map((before) => [before, ""]),
  ...["\nThat is how it calls.", " is a call.", "\n\n[1] A footnote."].map((after) => ["", after]),
  ["```\n", "\n```\nSend it."],
] as const;

test.each(formats)("%s runs alone, and in no citation, however it is cut", (call) => {
  for (const chars of [1, 7, 1_000]) {
    expect(callsOf(read(call, chars))).toEqual([["list", '{"depth":2}']]);
    // A special token is for no reader.
    const isTag = /^(?:<|&lt;)\w/.test(call);
    for (const before of prefixes) expect(callsOf(read(before + call, chars)), before).toHaveLength(isTag ? 0 : 1);
    const cited = isTag
      ? prefixes.flatMap((before) => [
          [before, ""],
          [before, "\nSend it."],
        ])
      : [];
    for (const [before = "", after = ""] of [...citations, ...cited]) {
      const events = read(before + call + after, chars);
      expect(callsOf(events), before + call + after).toEqual([]);
      expect(joined(events, "text-delta")).toBe(before + call + after);
    }
  }
});

test.each([
  ["GLM-4 by name", 'list\n{"depth": 2}'],
  ["GLM-4 after a line break", '\nlist\n{"depth": 2}'],
  ["a fence of Python", "```python\nlist(depth=2)\n```"],
  ["Python alone", "list(depth=2)"],
  ["a thought and a fence", "<think>\nI look.\n</think>\n\n```python\nlist(depth=2)\n```"],
])("%s runs as the whole answer, and is text beside other words", (_, text) => {
  for (const chars of [1, 3, 1_000]) {
    expect(callsOf(read(text, chars))).toEqual([["list", '{"depth":2}']]);
    for (const cited of [`So:\n${text}`, `${text}\nThat is how it is called.`, `> ${text.replaceAll("\n", "\n> ")}`])
      expect(callsOf(read(cited, chars))).toEqual([]);
    expect(callsOf(read(text, chars, { allowsBareJson: false }))).toEqual([]);
  }
});

test.each([
  [
    "1. Look at the files\n2. Fix the bug",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>list<｜tool▁sep｜>{"depth": 2}<｜tool▁call▁end｜>',
  ],
  [
    "1. Look",
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.list:0<|tool_call_argument_begin|>{"depth": 2}<|tool_call_end|>',
  ],
  ["- Look first", '[TOOL_CALLS]list{"depth": 2}'],
  ["- Look ", "<tool_call>list\n<arg_key>depth</arg_key>\n<arg_value>2</arg_value>\n</tool_call>"],
  ["# Step 1: look ", `<tool_call>${JSON_CALL}</tool_call>`],
  ["2024. ", `<tool_call>${JSON_CALL}</tool_call>`],
  [
    `- <tool_call>{"name": "list", "arguments": {"x": "${"x".repeat(300)}"}}</tool_call>\n`,
    `<tool_call>${JSON_CALL}</tool_call>`,
  ],
  [`> <tool_call>\n> ${JSON_CALL}\n\n`, `<tool_call>${JSON_CALL}</tool_call>`],
])("a call after the text %j runs, and leaves no mark in it", (before, call) => {
  for (const chars of [1, 7, 1_000]) {
    const events = read(before + call, chars);
    expect(callsOf(events)).toEqual([["list", '{"depth":2}']]);
    expect(joined(events, "text-delta")).toBe(before);
  }
});

test("a message of gpt-oss begins a line, whatever the last one ended with", () => {
  const call =
    '<|start|>assistant<|channel|>commentary to=functions.list <|constrain|>json<|message|>{"depth": 2}<|call|>';
  for (const plan of ["Plan:\n1. list files", "# ", 'Plan: "list files"'])
    for (const chars of [1, 7, 1_000]) {
      const events = read(`<|channel|>commentary<|message|>${plan}<|end|>${call}`, chars);
      expect(callsOf(events)).toEqual([["list", '{"depth":2}']]);
      expect(joined(events, "text-delta")).toBe(plan);
    }
});

test("a call of several lines is cited in full", () => {
  const text = `- <tool_call>\n  ${JSON_CALL}\n  </tool_call>`;
  for (const chars of [1, 7, 1_000]) {
    expect(callsOf(read(text, chars))).toEqual([]);
    expect(joined(read(text, chars), "text-delta")).toBe(text);
  }
});

test("the end of a thought may follow an item of a list", () => {
  const events = read("Hm, I think:\n- so it is x\n- so y.</think>\n\nThe answer is 5.", 7);
  const recast = events.findIndex(({ type }) => type === "recast");
  expect(joined(events.slice(0, recast), "text-delta")).toBe("Hm, I think:\n- so it is x\n- so y.");
  expect(joined(events.slice(recast), "text-delta")).toBe("The answer is 5.");
});

test.each([
  ["a message that the model goes on with", `<tool_call>${JSON_CALL}</tool_call><|im_end|>\n<|im_start|>user\n`],
  ["another field for the name", '<tool_call>{"function_name": "list", "arguments": {"depth": 2}}</tool_call>'],
  ["an analysis of gpt-oss", '<|channel|>analysis to=functions.list code<|message|>{"depth": 2}<|call|>'],
  ["the end of EXAONE's turn", `<tool_call>${JSON_CALL}</tool_call>[|endofturn|]`],
  ["a blank before Llama's arguments", '<function=list {"depth": 2}</function>'],
  ["a list before Llama's arguments", '<function=list[]{"depth": 2}</function>'],
  ["the end of a thought before it", `Hm.</think>\n[${JSON_CALL}]`],
])("a call with %s runs", (_, text) => {
  for (const chars of [1, 7, 1_000]) expect(callsOf(read(text, chars))).toEqual([["list", '{"depth":2}']]);
});

test("a server's tool by its own name runs, however the name is cut", () => {
  const text = '<tool_call>{"name": "list_dir", "arguments": {"depth": 2}}</tool_call>';
  for (const chars of [1, 7, 1_000]) expect(callsOf(read(text, chars))).toEqual([["mcp__fs__list_dir", '{"depth":2}']]);
});

const offered: readonly ToolSchema[] = Object.entries({
  read_file: "path",
  terminal: "command",
  process: "action",
  query: "sql",
  mcp__fs__list_dir: "depth",
}).map(([name, parameter]) => ({
  name,
  description: "",
  parameters: { properties: { [parameter]: { type: "string" } } },
}));
const ESCAPED = "&lt;terminal&gt;&lt;command&gt;echo ran&lt;/command&gt;&lt;/terminal&gt;";
const ESCAPED_JSON = '&lt;tool_call&gt;{"name": "terminal", "arguments": {"command": "echo ran"}}&lt;/tool_call&gt;';
const lengths = [...Array.from({ length: 14 }, (_, index) => index + 1), 1_000];

test.each([
  ["a tag in a sentence", `In HTML you write it as ${ESCAPED}`],
  ["a call in a sentence", `In HTML: ${ESCAPED_JSON}`],
  ["a call in a row of a table", `| form | text |\n|---|---|\n| HTML | ${ESCAPED_JSON} |`],
  ["a call below a sentence", `In HTML:\n\n${ESCAPED}`],
  ["a tag that opens the answer, and words", `${ESCAPED} is how you write it.`],
  ["a signature of Python", "read_file(path: str)"],
  ["a signature with a result", "terminal(command: str, timeout: int = 180) -> str"],
  ["a shape of TypeScript", "terminal\n{command: string}"],
  ["a signature with its types", "terminal(command=str, timeout=int)"],
  ["a name for its value", "```python\nterminal(command=text)\n```"],
  ["a shape of JSON", 'terminal\n{"command": string}'],
  ["a shape of YAML", "query\n{ sql: SELECT 1 }"],
  ["a fence of XML", "```xml\n<process><action>start</action></process>\n```"],
  ["a fence of HTML", "```html\n<query><sql>SELECT 1</sql></query>\n```"],
  ["a fence of XML with a mark", '```xml\n<tool_call>{"name": "terminal", "arguments": {}}</tool_call>\n```'],
  ["a signature in a fence", "```python\nread_file(path: str)\n```"],
  ["an object with bare keys", '{name: "terminal", arguments: {command: "ls"}}'],
  ["an object with bare keys in a fence", '```js\n{name: "terminal", arguments: {command: "ls"}}\n```'],
])("an answer with %s is text, however it is cut", (_, text) => {
  for (const chars of lengths)
    for (const allowsBareJson of [true, false]) {
      const events = read(text, chars, { tools: offered, allowsBareJson });
      expect(callsOf(events), String(chars)).toEqual([]);
      expect(joined(events, "text-delta")).toBe(text);
    }
});

test.each([
  ["Mistral without its tokens", 'terminal{"command": "ls"}', "terminal"],
  ["Mistral without its first token", 'terminal[ARGS]{"command": "ls"}', "terminal"],
  ["Gemini that prints", '```python\nprint(default_api.terminal(command="ls"))\n```', "terminal"],
  ["Gemini", 'default_api.terminal(command="ls")', "terminal"],
  ["a server's tool in Python", "list_dir(depth=2)", "mcp__fs__list_dir"],
  ["a server's tool and JSON", 'list_dir\n{"depth": 2}', "mcp__fs__list_dir"],
  ["a server's tool in a fence", "```python\nlist_dir(depth=2)\n```", "mcp__fs__list_dir"],
  ["a tool with a blank", "terminal( command = 'ls')", "terminal"],
  ["a tool as entities", ESCAPED, "terminal"],
  ["a call as entities", ESCAPED_JSON, "terminal"],
])("an answer of %s runs, however it is cut, unless the model makes real calls", (_, text, name) => {
  for (const chars of lengths) {
    const [call] = callsOf(read(text, chars, { tools: offered }));
    expect(call?.[0], String(chars)).toBe(name);
    expect(callsOf(read(text, chars, { tools: offered, allowsBareJson: false }))).toEqual([]);
  }
});
