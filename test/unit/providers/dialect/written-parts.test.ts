import { describe, expect, test } from "vitest";
import { type WrittenOptions, WrittenParts } from "../../../../agent-core/providers/dialect/written-parts.ts";
import type { ModelEvent, ToolSchema } from "../../../../agent-core/providers/wire/wire.ts";
import { callsOf, joined } from "../../../conformance/collect.ts";

const tools: readonly ToolSchema[] = [
  { name: "list", description: "", parameters: { type: "object", properties: { depth: { type: "integer" } } } },
  {
    name: "write_file",
    description: "",
    parameters: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } },
  },
];

/** Feeds `text` in pieces of `chars`, and ends the answer. */
function read(text: string, chars = 3, more: Partial<WrittenOptions> = {}): readonly ModelEvent[] {
  const parts = new WrittenParts({ tools, allowsBareJson: true, ...more });
  const pieces = text.match(new RegExp(`[^]{1,${chars}}`, "gu")) ?? [];
  const events = pieces.flatMap((piece) => parts.take({ type: "text-delta", text: piece }));
  return [...events, ...parts.finish({ type: "finish", reason: "stop", usage: undefined })];
}

test("a mark in the middle of a line begins a call, however it is cut", () => {
  for (const chars of [1, 3, 7, 100])
    expect(callsOf(read('Let me see.[TOOL_CALLS]list{"depth": 2}', chars))).toEqual([LIST]);
});

test.each([
  ["FunctionGemma", "<start_function_call>call:list{depth:2}<end_function_call>", "call:li"],
  ["Qwen", '<tool_call>\n{"name": "list", "arguments": {"depth": 2}}\n</tool_call>\n', '<tool_call>\n{"name": "li'],
])("a call of %s that is repeated up to the output limit runs once", (_, call, rest) => {
  const parts = new WrittenParts({ tools, allowsBareJson: true });
  const begun = parts.take({ type: "text-delta", text: call.repeat(9) + rest });
  const ended = parts.finish({ type: "finish", reason: "length", usage: undefined });
  expect(callsOf([...begun, ...ended])).toEqual([LIST]);
  expect(ended.at(-1)).toMatchObject({ reason: "tool_calls" });
});

test.each([
  "<function=write_file>\n<parameter=path>a.ts</parameter>\n<parameter=content>\nline 1\nline 2 ha",
  "<function=write_file>\n<parameter=path>a.ts</parameter>\n<parameter=con",
  "<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>/home/u/pro",
  '<function_calls>\n<invoke name="write_file">\n<parameter name="path">a.ts</parameter>\n<parameter name="content">ha',
  "<write_file>\n<path>a.ts</path>\n<content>\nx\n</tool_call_docs>\nha",
  '<tool_call>{"name": "write_file", "arguments": {"path": "a.html", "content": "<div>{x}</div> ha',
])("a call that the output limit cuts off does not run: %j", (text) => {
  const parts = new WrittenParts({ tools, allowsBareJson: true });
  const begun = parts.take({ type: "text-delta", text });
  const ended = parts.finish({ type: "finish", reason: "length", usage: undefined });
  expect(callsOf([...begun, ...ended])).toEqual([]);
  expect(joined([...begun, ...ended], "text-delta")).toBe(text);
});

const LIST = ["list", '{"depth":2}'] as const;

describe("calls that a model wrote as text", () => {
  test.each([
    ["Hermes and Qwen", '<tool_call>\n{"name": "list", "arguments": {"depth": 2}}\n</tool_call>'],
    ["Hermes with its fields in the other order", '<tool_call>{"arguments": {"depth": 2}, "name": "list"}</tool_call>'],
    ["Qwen3-Coder", "<tool_call>\n<function=list>\n<parameter=depth>\n2\n</parameter>\n</function>\n</tool_call>"],
    ["Qwen3-Coder without its frame", "<function=list>\n<parameter=depth>\n2\n</parameter>\n</function>\n</tool_call>"],
    [
      "Step with a namespace",
      '<｜tool_call_begin｜>function<｜tool_sep｜><step:invoke name="list"><step:parameter name="depth">2</step:parameter></step:invoke><｜tool_call_end｜>',
    ],
    ["a header", 'Tool: list\nArguments: {"depth": 2}'],
    ["ReAct that waits for its result", 'Action: list\nAction Input: {"depth": 2}\nObservation:'],
    [
      "a result that the model invents",
      '<tool_call>\n{"name": "list", "arguments": {"depth": 2}}\n</tool_call>\n<tool_response>\na\n</tool_response>\nIt has a.',
    ],
    ["ReAct that invents its result", 'Action: list\nAction Input: {"depth": 2}\nObservation: a\nThought: I know.'],
    [
      "a frame around the answer",
      '<answer>\n<tool_calls>[{"name": "list", "arguments": {"depth": 2}}]</tool_calls>\n</answer>',
    ],
    [
      "Solar",
      '<|tool_calls|><|tool_call:begin|>aB3<|tool_call:name|>list<|tool_call:args|>{"depth": 2}<|tool_call:end|>',
    ],
    ["a brace too few", '<tool_call>\n{"name": "list", "arguments": {"depth": 2}\n</tool_call>'],
    ["a brace too many", '<tool_call>\n{"name": "list", "arguments": {"depth": 2}}}\n</tool_call>'],
    ["the name as the only key", '{"list": {"depth": 2}}'],
    ["values without names", "[list(2)]"],
    ["Llama with its own function tag", '<function=list>{"depth": 2}</function>'],
    ["Llama after a python tag", '<|python_tag|>{"name": "list", "parameters": {"depth": 2}}'],
    ["Mistral", '[TOOL_CALLS][{"name": "list", "arguments": {"depth": 2}}]'],
    ["Mistral since v11", '[TOOL_CALLS]list[CALL_ID]aB3xK9mP2[ARGS]{"depth": 2}'],
    ["Phi", '<|tool_call|>[{"name": "list", "arguments": {"depth": 2}}]<|/tool_call|>'],
    ["GLM", "<tool_call>list\n<arg_key>depth</arg_key>\n<arg_value>2</arg_value>\n</tool_call>"],
    [
      "MiniMax",
      '<minimax:tool_call>\n<invoke name="list">\n<parameter name="depth">2</parameter>\n</invoke>\n</minimax:tool_call>',
    ],
    [
      "Kimi",
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.list:0<|tool_call_argument_begin|>{"depth": 2}<|tool_call_end|><|tool_calls_section_end|>',
    ],
    [
      "DeepSeek R1",
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>list\n```json\n{"depth": 2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
    [
      "DeepSeek V3.1",
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>list<｜tool▁sep｜>{"depth": 2}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
    [
      "DeepSeek V3.2",
      '<｜DSML｜function_calls>\n<｜DSML｜invoke name="list">\n<｜DSML｜parameter name="depth" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    ],
    ["Gemma", "<start_function_call>call:list{depth:2}<end_function_call>"],
    ["Gemma in Python", "```tool_code\nlist(depth=2)\n```"],
    ["Gemma in Python, printed", "```tool_code\nprint(default_api.list(depth=2))\n```"],
    ["bare JSON", '{"name": "list", "arguments": {"depth": 2}}'],
    ["bare JSON in OpenAI's form", '{"type": "function", "function": {"name": "list", "parameters": {"depth": 2}}}'],
    ["fenced JSON", '```json\n{"name": "list", "arguments": {"depth": 2}}\n```'],
    ["arguments as text", '<tool_call>{"name": "list", "arguments": "{\\"depth\\": 2}"}</tool_call>'],
    ["Qwen2.5-Coder", '<tools>\n{"name": "list", "arguments": {"depth": 2}}\n</tools>'],
    ["Llama 4 in Python", "[list(depth=2)]"],
    ["LFM2", "<|tool_call_start|>[list(depth=2)]<|tool_call_end|>"],
    ["Olmo", "<function_calls>\nlist(depth=2)\n</function_calls>"],
    ["Gemma 4", "<|tool_call>call:list{depth:2}<tool_call|>"],
    ["Cline", "<list>\n<depth>2</depth>\n</list>"],
    ["Nemotron", '<TOOLCALL>[{"name": "list", "arguments": {"depth": 2}}]</TOOLCALL>'],
    [
      "Command R",
      '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "list", "parameters": {"depth": 2}}]<|END_ACTION|>',
    ],
    ["InternLM", '<|action_start|><|plugin|>{"name": "list", "parameters": {"depth": 2}}<|action_end|>'],
    ["Apertus", '<|tools_prefix|>[{"list": {"depth": 2}}]<|tools_suffix|>'],
    [
      "Step",
      '<steptml:toolcall><steptml:invoke name="list"><steptml:parameter name="depth">2</steptml:parameter></steptml:invoke></steptml:toolcall>',
    ],
    ["Granite", '<tool_call>[{"name": "list", "arguments": {"depth": 2}}]'],
    ["Hunyuan", '<tool_calls>[{"name": "list", "arguments": {"depth": 2}}]</tool_calls>'],
    ["a list of calls", '[{"name": "list", "arguments": {"depth": 2}}]'],
    [
      "an object around calls",
      '{"tool_calls": [{"type": "function", "function": {"name": "list", "arguments": {"depth": 2}}}]}',
    ],
    ["LangChain", '```json\n{"action": "list", "action_input": {"depth": 2}}\n```'],
    ["attributes in single quotes", `<tool_call name='list' arguments='{"depth": 2}'/>`],
    ["Gemma 4 without its tokens", "call:list{depth:2}"],
    ["Gemini in Gemma's form", "call:default_api:list{depth:2}"],
    ["gpt-oss without its first token", 'to=functions.list commentary json\n{"depth": 2}'],
    [
      "Nemotron Mini",
      '<toolcall> {"type": "function", "arguments": {"name": "list", "arguments": {"depth": 2}}} </toolcall>',
    ],
    ["Bedrock", '{"toolUse": {"toolUseId": "x", "name": "list", "input": {"depth": 2}}}'],
    ["a label", 'Tool call: list({"depth": 2})'],
    ["LM Studio", '[TOOL_REQUEST]{"name": "list", "arguments": {"depth": 2}}[END_TOOL_REQUEST]\n[TOOL_RESULT]a'],
    ["attributes", '<tool name="list" depth="2" />\n</tool_call>'],
    ["attributes with JSON", `<function_call name="list" arguments='{"depth": 2}' />`],
    ["the tool's tag with an attribute", '<list depth="2"/>'],
    ["the tool's tag around JSON", '<list>{"depth": 2}</list>'],
    ["Qwen3-Coder without end tags", "<function=list>\n<parameter=depth> 2"],
    ["Functionary", '>>>list\n{"depth": 2}'],
    ["FireFunction", 'functools[{"name": "list", "arguments": {"depth": 2}}]'],
    ["ReAct", 'Action: list\nAction Input: {"depth": 2}'],
    ["Qwen-Agent", '✿FUNCTION✿: list\n✿ARGS✿: {"depth": 2}'],
    [
      "LongCat",
      "<longcat_tool_call>list\n<longcat_arg_key>depth</longcat_arg_key>\n<longcat_arg_value>2</longcat_arg_value>\n</longcat_tool_call>",
    ],
    [
      "elements for the name and the arguments",
      "<function_calls>\n<invoke>\n<tool_name>list</tool_name>\n<parameters>\n<depth>2</depth>\n</parameters>\n</invoke>\n</function_calls>",
    ],
    ["Cherry Studio", '<tool_use>\n<name>list</name>\n<arguments>{"depth": 2}</arguments>\n</tool_use>'],
    [
      "Cline's frame for servers",
      '<use_mcp_tool>\n<server_name>notes</server_name>\n<tool_name>list</tool_name>\n<arguments>\n{"depth": 2}\n</arguments>\n</use_mcp_tool>',
    ],
    ["a template with double braces", '<tool_call>\n{{"name": "list", "arguments": {"depth": 2}}}\n</tool_call>'],
    [
      "gpt-oss",
      '<|start|>assistant<|channel|>commentary to=functions.list <|constrain|>json<|message|>{"depth": 2}<|call|>',
    ],
    [
      "gpt-oss with the recipient before the channel",
      '<|start|>assistant to=functions.list<|channel|>commentary json<|message|>{"depth": 2}',
    ],
    ["gpt-oss without its tokens", 'assistantcommentary to=functions.list json{"depth": 2}'],
    [
      "Hunyuan with a separator",
      '<tool_calls><tool_call>function<tool_sep>list\n```json\n{"depth": 2}\n```</tool_call></tool_calls>',
    ],
    ["parallel calls of GPT", '{"tool_uses":[{"recipient_name":"functions.list","parameters":{"depth":2}}]}'],
    ["JavaScript", 'functions.list({"depth": 2})'],
    ["Llama's method", "<|python_tag|>list.call(depth=2)"],
    ["MiniCPM", "<|tool_call_start|>\n```python\nlist(depth=2)\n```\n<|tool_call_end|>"],
    ["arguments in a list", '<tool_call>{"name": "list", "arguments": [{"depth": 2}]}</tool_call>'],
    ["arguments beside the name", '<tool_call>{"name": "list", "depth": 2}</tool_call>'],
    ["other field names", '<tool_call>{"tool_name": "list", "tool_args": {"depth": 2}}</tool_call>'],
    ["a token after the call", '<tool_call>{"name": "list", "arguments": {"depth": 2}}</tool_call></s>'],
    ["single quotes", "<tool_call>{'name': 'list', 'arguments': {'depth': 2}}</tool_call>"],
    ["JSON with a mistake", '<tool_call>{"name": "list", "arguments": {"depth": 2,}}</tool_call>'],
  ])("%s", (_, text) => {
    for (const chars of [1, 3, 1_000]) {
      for (const before of ["", "I look.\n\n"]) {
        const events = read(before + text, chars);
        expect(callsOf(events)).toEqual([LIST]);
        expect(joined(events, "text-delta").trim()).toBe(before.trim());
        expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool_calls" });
      }
    }
  });

  const long = 'say "hi"; it\'s <b>\nx = {1}\n';
  test.each([
    ["Python", `[write_file(path='a.ts', content=${JSON.stringify(long)})]`],
    ["Python with a long text", `\`\`\`tool_code\nwrite_file(path="a.ts", content='''${long}''')\n\`\`\``],
    ["Gemma 4", `<|tool_call>call:write_file{path:<|"|>a.ts<|"|>,content:<|"|>${long}<|"|>}<tool_call|>`],
    ["Cline", `<write_file>\n<path>a.ts</path>\n<content>\n${long}\n</content>\n</write_file>`],
    [
      "Qwen",
      `<tool_call>${JSON.stringify({ name: "write_file", arguments: { path: "a.ts", content: long } })}</tool_call>`,
    ],
    [
      "GLM",
      `<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>a.ts</arg_value>\n<arg_key>content</arg_key>\n<arg_value>\n${long}\n</arg_value>\n</tool_call>`,
    ],
  ])("text with quotes, tags and line breaks arrives whole from %s", (_, text) => {
    for (const chars of [1, 7, 1_000]) {
      expect(callsOf(read(text, chars))).toEqual([["write_file", JSON.stringify({ path: "a.ts", content: long })]]);
    }
  });

  test.each([
    [
      "a thought that goes on into a call",
      '<think>\nI look.\n<tool_call>\n{"name": "list", "arguments": {"depth": 2}}\n</tool_call>',
    ],
    [
      "a thought with a call before its end",
      "<think>I look.\n<function=list>\n<parameter=depth>2</parameter>\n</function>\n</think>\n",
    ],
    ["a thought with bare JSON", '<think>\nI look.\n{"name": "list", "arguments": {"depth": 2}}\n</think>'],
  ])("%s runs when there is no answer", (_, text) => {
    for (const chars of [1, 7, 1_000]) expect(callsOf(read(text, chars))).toEqual([LIST]);
    expect(callsOf(read(`${text.replace(/<\/think>\s*$/, "")}</think>\nDone.`))).toEqual([]);
  });

  test("a call in the server's own reasoning runs when there is no answer", () => {
    const parts = new WrittenParts({ tools, allowsBareJson: false });
    const text = "I look.\n<tool_call>list\n<arg_key>depth</arg_key><arg_value>2</arg_value></tool_call>";
    const events = [...text].flatMap((piece) => parts.take({ type: "reasoning-delta", text: piece }));
    events.push(...parts.finish({ type: "finish", reason: "stop", usage: undefined }));
    expect(callsOf(events)).toEqual([LIST]);
    expect(events.at(-1)).toMatchObject({ reason: "tool_calls" });
  });

  test("several calls run in their order, and text of the schema stays text", () => {
    const content = 'const a = "<b>";\nif (a) {}\n';
    const written = `<tool_call>\n<function=write_file>\n<parameter=path>\n12\n</parameter>\n<parameter=content>\n${content}\n</parameter>\n</function>\n</tool_call>`;
    const events = read(`${written}\n<tool_call>\n{"name": "list", "arguments": {"depth": 2}}\n</tool_call>`);
    expect(callsOf(events)).toEqual([["write_file", JSON.stringify({ path: "12", content })], LIST]);
    expect(new Set(events.map((event) => (event.type === "tool-call-end" ? event.call.id : ""))).size).toBe(3);
  });

  test.each([
    ["a tool that is not offered", '<tool_call>{"name": "format_disk", "arguments": {}}</tool_call>'],
    ["an explanation of a mark", "Hermes writes <tool_call> around a call. That is all."],
    ["a mark in code", 'Write `<tool_call>{"name": "list", "arguments": {}}</tool_call>`.'],
    ["a call inside a code fence", 'So:\n```xml\n<tool_call>{"name": "list", "arguments": {}}</tool_call>\n```\n'],
    ["JSON that is data", 'Done:\n```json\n{"name": "list-view", "version": "1.0.0"}\n```\n'],
    ["words that begin like marks", "Action: list the files\nAction items\nfunction list(depth) {}\nto=x\n> list"],
    ["XML with the name of a tool", '<list class="a"><li>1</li></list> and <list>{x}</list>'],
    ["code that calls a function of that name", "```python\nlist(range(2))\n```"],
    ["a sentence that begins with a tool's name", "list(depth) shows a folder."],
    ["entities that cite", "Write `&lt;tool_call&gt;`, or &lt;b&gt; &amp; &lt;list&gt;x&lt;/list&gt;."],
    ["comparisons and generics", 'if (a < b && c[0] < d) return new Map<string, {x: 1}>();\n{ "a": [1] }'],
  ])("%s is text", (_, text) => {
    for (const chars of [1, 5, 1_000]) {
      const events = read(text, chars);
      expect(joined(events, "text-delta")).toBe(text);
      expect(callsOf(events)).toEqual([]);
      expect(events.at(-1)).not.toHaveProperty("hasUnreadCall");
    }
  });

  test.each([
    ["text after the call", '<tool_call>{"name": "list", "arguments": {}}</tool_call>\nThat is how I would call it.'],
    ["a footnote after the call", '<tool_call>{"name": "list", "arguments": {}}</tool_call>\n[1] is only an example.'],
    ["a note after the call", '<tool_call>{"name": "list", "arguments": {}}</tool_call>\n<b>Note</b>: an example.'],
    [
      "a call before a broken one",
      '<tool_call>{"name": "list", "arguments": {}}</tool_call>\n<tool_call>{"name": list "arguments": [}</tool_call>',
    ],
    ["a call that was cut off", '<tool_call>{"name": "write_file", "arguments": {"path": "a", "content": "half'],
    ["a package.json with a tool's name", '```json\n{"name": "list", "version": "1.0.0"}\n```'],
  ])("%s is shown, does not run, and is reported", (_, text) => {
    const events = read(text);
    expect(joined(events, "text-delta")).toBe(text);
    expect(callsOf(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: "finish", hasUnreadCall: true });
  });

  test("without offered tools everything is text", () => {
    const text = '<tool_call>{"name": "list", "arguments": {}}</tool_call>';
    expect(joined(read(text, 3, { tools: [] }), "text-delta")).toBe(text);
  });

  test("a model that makes real tool calls may show JSON", () => {
    const text = '```json\n{"name": "list", "arguments": {}}\n```';
    expect(joined(read(text, 3, { allowsBareJson: false }), "text-delta")).toBe(text);
  });

  test("in an answer with a real call, text is text", () => {
    const parts = new WrittenParts({ tools, allowsBareJson: true });
    const text = '<tool_call>{"name": "list", "arguments": {}}</tool_call>';
    const shown = parts.take({ type: "text-delta", text });
    const start = parts.take({ type: "tool-call-start", index: 0, id: "call_1", name: "list" });
    const end = parts.finish({ type: "finish", reason: "tool_calls", usage: undefined });
    expect(joined([...shown, ...start, ...end], "text-delta")).toBe(text);
    expect(end.at(-1)).not.toHaveProperty("hasUnreadCall");
  });

  test("text streams on while nothing can be a mark", () => {
    const parts = new WrittenParts({ tools, allowsBareJson: true });
    const shown = ["Now ", "a < b", " and <t", "d> or [", "x] {\n", "```ts\n", "const a", " = {};\n", "```\n"].map(
      (text) => joined(parts.take({ type: "text-delta", text }), "text-delta"),
    );
    expect(shown).toEqual(["Now ", "a < b", " and ", "<td> or ", "[x] {\n", "```ts\n", "const a", " = {};\n", "```\n"]);
  });
});

describe("messages of gpt-oss without its parser", () => {
  const THOUGHT = "<|channel|>analysis<|message|>Hm: a < b.<|end|>";
  test.each([
    [
      "a thought and an answer",
      `${THOUGHT}<|start|>assistant<|channel|>final<|message|>Yes.<|return|>`,
      "Hm: a < b.",
      "Yes.",
    ],
    ["an answer that the token limit cut", "<|channel|>final<|message|>Yes. <|", "", "Yes. <|"],
    ["a missing start token", `${THOUGHT}<|channel|>final<|message|>Yes.`, "Hm: a < b.", "Yes."],
    ["a thought after words", `I look. ${THOUGHT}<|channel|>final<|message|>Yes.`, "Hm: a < b.", "I look. Yes."],
    [
      "plain text about the tokens",
      "The token <|channel|> begins a message.",
      "",
      "The token <|channel|> begins a message.",
    ],
    ["text that only begins like a token", "<|chan", "", "<|chan"],
  ])("%s is read", (_, written, thought, text) => {
    for (const chars of [1, 4, 1_000]) {
      const events = read(written, chars);
      expect([joined(events, "reasoning-delta"), joined(events, "text-delta")]).toEqual([thought, text]);
    }
  });

  test("a thought before a call is reasoning", () => {
    const events = read(
      `${THOUGHT}<|start|>assistant<|channel|>commentary to=functions.list json<|message|>{"depth": 2}<|call|>`,
    );
    expect(joined(events, "reasoning-delta")).toBe("Hm: a < b.");
    expect(callsOf(events)).toEqual([LIST]);
  });
});

describe("thoughts that a model wrote as text", () => {
  test.each([
    ["<think>", "</think>"],
    ["<thinking>", "</thinking>"],
    ["<thought>", "</thought>"],
    ["[THINK]", "[/THINK]"],
  ])("%s is reasoning, whatever the pieces", (open, close) => {
    for (const chars of [1, 4, 1_000]) {
      const events = read(`\n${open}\nHm <b> [x].\n${close}\n\nThe answer.`, chars);
      expect(joined(events, "reasoning-delta").trim()).toBe("Hm <b> [x].");
      expect(joined(events, "text-delta")).toBe("The answer.");
      expect(events.at(-1)).toMatchObject({ reasoningDetails: [{ type: "chat.written_thought", open, close }] });
    }
  });

  test("a blank thought is none", () => {
    const events = read("<think>\n\n</think>\n\nThe answer.", 2);
    expect(events.filter(({ type }) => type === "reasoning-delta")).toEqual([]);
    expect(joined(events, "text-delta")).toBe("The answer.");
  });

  test("a call after a thought runs", () => {
    const events = read(
      '<think>\nI look.\n</think>\n\n<tool_call>\n{"name": "list", "arguments": {"depth": 2}}\n</tool_call>',
    );
    expect(callsOf(events)).toEqual([LIST]);
    expect(joined(events, "text-delta")).toBe("");
  });

  test("a lone end makes reasoning of the text before it", () => {
    const events = read("Hm.\n</think>\n\nThe answer.", 4);
    expect(events.findIndex(({ type }) => type === "recast")).toBeGreaterThan(0);
    const after = events.slice(events.findIndex(({ type }) => type === "recast"));
    expect(joined(after, "text-delta")).toBe("The answer.");
    expect(events.at(-1)).toMatchObject({ reasoningDetails: [{ open: "", close: "</think>" }] });
  });

  test("a later answer of such a model is reasoning from its first character", () => {
    const openThought = { open: "", close: "</think>" };
    const events = read("Hm.\n</think>\n\nThe answer.", 4, { openThought });
    expect(joined(events, "reasoning-delta")).toBe("Hm.\n");
    expect(joined(events, "text-delta")).toBe("The answer.");
    const plain = read("Only an answer.", 4, { openThought });
    expect(plain.slice(-3)).toMatchObject([
      { type: "recast", as: "text" },
      { text: "Only an answer." },
      { type: "finish" },
    ]);
  });

  test("an end of a thought in code or in a sentence is text", () => {
    const text = "The tag `</think>` ends it, and </think> here does not.\n```\n</think>\n```\n";
    expect(joined(read(text), "text-delta")).toBe(text);
  });

  test("an unfinished thought is no answer", () => {
    const events = read("<think>Hm, and then");
    expect(joined(events, "reasoning-delta")).toBe("Hm, and then");
    expect(joined(events, "text-delta")).toBe("");
  });
});
