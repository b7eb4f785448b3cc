/**
 * Reads tool calls that a model wrote into its text. The marks around a call differ by its training, but inside them stands
 * the name of an offered tool with JSON, with elements as in XML, or with named arguments as in Python.
 */
import * as z from "zod";
import { parseJson, parseRepairedJson } from "../../platform/json.ts";
import type { ToolSchema } from "../wire/wire.ts";

export type WrittenCall = { readonly name: string; readonly input: Readonly<Record<string, unknown>> };

/** Words in the marks around calls: `<tool_call>`, `<function=…>`, `<invoke name=…>`, a fence `tool_code`. */
const MARK_WORD = /tool|func|call|invoke/i;
/** A special token such as `<|python_tag|>`, `<｜tool▁sep｜>` or `<tool_call|>`; a tag; a word in capitals; a fence; a bracket. */
const NOISE = /\s+|<[|｜][^<>"'=]*>|<\/?([^<>\s"'=]+)>|\[\/?[A-Z_]{4,}\](?:(?<=CALL_ID\])\w+)?|```([\w-]*)|[[\]();,]/y;
/** Beginning of a token at the end of a text. */
const OPEN_NOISE = /^(?:<[|｜/]{0,2}(?:\w[^<>\n]{0,100})?|\[\/?[A-Z_]*|`{1,3}[\w-]*)?$/;
/** `<function=NAME>`, `<invoke name="NAME">`, `<parameter=KEY>`, or the name alone as the tag. */
const TAG = /<([^\s<>=/"]+)(?:(?:=|\s+name=)"?([\w.-]+)"?)?[^<>]*>/y;
const NAME = /(?:function<｜tool▁sep｜>|functions\.|call:|default_api\.|print\()*([\w.-]+?)(?::\d+)?(?![\w.:-])/y;
/** Quotes around text as Gemma writes them. */
const GEMMA_TEXT = /(<escape>|<\|"\|>)([\s\S]*?)\1/g;

const record = z.record(z.string(), z.unknown());
const NAME_FIELDS = ["name", "tool", "tool_name", "function", "action"];
const INPUT_FIELDS = ["arguments", "parameters", "input", "args", "tool_input", "action_input"];
/** JSON with other fields is data, such as a package.json. */
const CALL_FIELDS = new Set([...NAME_FIELDS, ...INPUT_FIELDS, "id", "type", "call_id", "tool_call_id"]);

/**
 * The calls in `text`, which holds nothing else. Undefined when a part cannot be read, or when it names no offered
 * tool.
 */
export function readWrittenCalls(written: string, tools: readonly ToolSchema[]): readonly WrittenCall[] | undefined {
  const text = written.replaceAll(GEMMA_TEXT, (_, __, value: string) => JSON.stringify(value));
  const calls: WrittenCall[] = [];
  for (let at = 0; at < text.length; ) {
    const read = readJson(text, at, tools) ?? readNamed(text, at, tools);
    calls.push(...(read?.calls ?? []));
    const next = read?.end ?? afterNoise(text, at);
    if (next === at) return undefined;
    at = next;
  }
  return calls.length > 0 ? calls : undefined;
}

type Read = { readonly calls: readonly WrittenCall[]; readonly end: number };

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** End of the noise token at `at`; `at` itself when there is none. */
function afterNoise(text: string, at: number): number {
  const [token = "", tag, fence] = matchAt(NOISE, text, at) ?? [];
  const word = tag ?? fence ?? "";
  return word === "" || word === "json" || MARK_WORD.test(word) ? at + token.length : at;
}

function skipNoise(text: string, from: number): number {
  let at = from;
  for (let next = afterNoise(text, at); next > at; next = afterNoise(text, at)) at = next;
  return at;
}

/** JSON of one call, or of an object around calls. */
function readJson(text: string, at: number, tools: readonly ToolSchema[]): Read | undefined {
  const json = text[at] === "{" ? bracketedAt(text, at) : undefined;
  const calls = json === undefined ? undefined : callsOf(parseLoosely(json), tools);
  return calls && { calls, end: at + (json?.length ?? 0) };
}

function callsOf(value: unknown, tools: readonly ToolSchema[]): readonly WrittenCall[] | undefined {
  if (Array.isArray(value)) {
    const calls = value.map((item) => callsOf(item, tools));
    return calls.every((call) => call !== undefined) ? calls.flat() : undefined;
  }
  const [[key, only] = ["", undefined], other] = Object.entries(record.safeParse(value).data ?? {});
  if (other !== undefined || typeof only !== "object") return callOf(value, tools);
  const tool = markedTool(key, tools);
  const input = tool && record.safeParse(only).data;
  if (tool && input) return [{ name: tool.name, input }];
  return MARK_WORD.test(key) ? callsOf(only, tools) : undefined;
}

function callOf(value: unknown, tools: readonly ToolSchema[]): readonly WrittenCall[] | undefined {
  const fields = record.safeParse(value).data ?? {};
  if (Object.keys(fields).some((field) => !CALL_FIELDS.has(field))) return undefined;
  if (typeof fields["function"] === "object") return callsOf(fields["function"], tools);
  const name = NAME_FIELDS.map((field) => fields[field]).find((given) => typeof given === "string");
  const tool = toolNamed(name, tools);
  const given = INPUT_FIELDS.map((field) => fields[field]).find((input) => input !== undefined && input !== null);
  const input = record.safeParse(typeof given === "string" ? parseLoosely(given) : given).data;
  return tool && input && [{ name: tool.name, input }];
}

/** A name, in a tag or plain, and then the arguments. A missing end tag means the end of the answer. */
function readNamed(text: string, at: number, tools: readonly ToolSchema[]): Read | undefined {
  const tag = matchAt(TAG, text, at);
  const named = tag ?? matchAt(NAME, text, at);
  const isOwnTag = tag !== null && tag[2] === undefined;
  const tool = isOwnTag ? markedTool(tag[1], tools) : toolNamed(named?.[tag === null ? 1 : 2], tools);
  if (named === null || tool === undefined || (tag?.[2] !== undefined && !MARK_WORD.test(tag[1] ?? "")))
    return undefined;
  const body = readInput(text, at + named[0].length, tool);
  if (body === undefined || (isOwnTag && Object.keys(body.input).length === 0)) return undefined;
  const close = `</${tag?.[1]}>`;
  const closed = tag === null ? -1 : text.indexOf(close, body.end);
  const isNext = closed >= 0 && text.slice(body.end, closed).trim() === "";
  return { calls: [{ name: tool.name, input: body.input }], end: isNext ? closed + close.length : body.end };
}

type ReadInput = { readonly input: WrittenCall["input"]; readonly end: number };

function readInput(text: string, at: number, tool: ToolSchema): ReadInput | undefined {
  const isPython = text[at] === "(";
  const start = isPython ? at : skipNoise(text, at);
  if (isPython || text[start] === "{") {
    const body = bracketedAt(text, start);
    if (body === undefined) return undefined;
    const input = record.safeParse(isPython ? pythonInput(body.slice(1, -1)) : parseLoosely(body)).data;
    return input && { input, end: start + body.length };
  }
  return readElements(text, at, tool);
}

/** Elements with a value each. GLM writes the key into an element of its own. */
function readElements(text: string, from: number, tool: ToolSchema): ReadInput | undefined {
  const input: Record<string, unknown> = {};
  let end = from;
  let key: string | undefined;
  for (let start = endOfSpace(text, end); ; start = endOfSpace(text, end)) {
    const [opened = "", tag = "", name] = matchAt(TAG, text, start) ?? [];
    if (opened === "" || (name === undefined && MARK_WORD.test(tag) && typesOf(tag, tool) === undefined)) break;
    const stop = text.indexOf(`</${tag}>`, start + opened.length);
    if (stop < 0) return undefined;
    const value = text.slice(start + opened.length, stop);
    const field: string = name ?? key ?? tag;
    if (field === "arg_key") key = value.trim();
    else {
      input[field] = typedValue(value, typesOf(field, tool));
      key = undefined;
    }
    end = stop + tag.length + 3;
  }
  // A tool without arguments has at least an end.
  return end > from || text.startsWith("</", endOfSpace(text, from)) ? { input, end } : undefined;
}

const schemaOfInput = z.looseObject({ properties: z.record(z.string(), z.looseObject({ type: z.unknown() })) });

/** Types of a parameter; undefined when the tool has no such parameter. */
function typesOf(parameter: string, tool: ToolSchema): readonly unknown[] | undefined {
  const property = schemaOfInput.safeParse(tool.parameters).data?.properties[parameter];
  return property && [property.type].flat();
}

/** Text is a value of another type only where the schema wants no string. */
function typedValue(text: string, types: readonly unknown[] | undefined): unknown {
  if (types?.includes("string")) return text.replace(/^\n|\n$/g, "");
  return parseJson(text.trim()) ?? text.trim(); // the tool reports a value of the wrong type
}

function endOfSpace(text: string, from: number): number {
  return from + (/^\s*/.exec(text.slice(from, from + LONGEST_START))?.[0].length ?? 0);
}

const PYTHON_TOKEN = /("""|''')([\s\S]*?)\1|"(?:[^"\\]|\\[\s\S])*"|'((?:[^'\\]|\\[\s\S])*)'|([A-Za-z_]\w*)\s*=(?!=)/g;

/** Named arguments as in Python: repaired JSON once its keys and texts have JSON's quotes. */
function pythonInput(written: string): unknown {
  const json = written.replaceAll(PYTHON_TOKEN, (token: string, ...groups: readonly (string | undefined)[]) => {
    const [, long, short, key] = groups;
    if (key !== undefined) return `"${key}":`;
    if (long !== undefined) return JSON.stringify(long);
    return short === undefined ? token : `"${short.replaceAll("\\'", "'").replaceAll(/(?<!\\)"/g, '\\"')}"`;
  });
  return parseLoosely(json.trimStart().startsWith("{") ? json : `{${json}}`);
}

function toolNamed(name: unknown, tools: readonly ToolSchema[]): ToolSchema | undefined {
  return tools.find((tool) => tool.name === name);
}

/** Tool whose name alone marks a call. `tool_call` is a mark of many models first. */
function markedTool(name: unknown, tools: readonly ToolSchema[]): ToolSchema | undefined {
  return name === "tool_call" ? undefined : toolNamed(name, tools);
}

/** Strings and brackets. A string in double quotes may lack its end. */
const BRACKET_TOKEN =
  /("""|''')[\s\S]*?\1|"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|(?<=[[{(,:=]\s*)'(?:[^'\\]|\\[\s\S])*'|[{}[\]()]/g;

/** Text from the bracket at `at` to the one that closes it; undefined when there is none. */
function bracketedAt(text: string, at: number): string | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.slice(at).matchAll(BRACKET_TOKEN)) {
    if ("{[(".includes(token)) depth += 1;
    else if ("}])".includes(token)) depth -= 1;
    if (depth === 0) return text.slice(at, at + index + 1);
  }
  return undefined;
}

/** Undefined for text that even a repair does not make JSON: it is shown instead. */
function parseLoosely(json: string): unknown {
  return parseJson(json) ?? parseRepairedJson(json);
}

/** Characters after which a beginning must have named a tool. */
const LONGEST_START = 400;

/** Test for the beginning of a written call: it names an offered tool, it may become one, or it is other text. */
export type CallStart = "call" | "maybe" | "other";

/** `mayBeBare`: calls without marks count too. */
export function callStart(text: string, tools: readonly ToolSchema[], mayBeBare: boolean): CallStart {
  const head = text.slice(0, LONGEST_START);
  const found = startOf(head, tools, mayBeBare);
  return found === "maybe" && head.length === LONGEST_START ? "other" : found;
}

function startOf(head: string, tools: readonly ToolSchema[], mayBeBare: boolean): CallStart {
  const first = tagStart(head, tools);
  if (first !== "other") return first;
  const at = skipNoise(head, 0);
  const [mark, rest] = [head.slice(0, at), head.slice(at)];
  if (head[0] === "`" && !mayBeBare) return "other";
  if (OPEN_NOISE.test(rest)) return "maybe";
  const isMarked = MARK_WORD.test(mark) || /<[|｜]/.test(mark);
  if (rest.startsWith("<")) return isMarked ? tagStart(rest, tools) : "other";
  if (rest.startsWith("{")) return isMarked || mayBeBare ? jsonStart(rest, tools, isMarked) : "other";
  return isMarked || (mayBeBare && mark.startsWith("[")) ? nameStart(rest, tools, isMarked) : "other";
}

function tagStart(text: string, tools: readonly ToolSchema[]): CallStart {
  const [opened = "", tag = "", name] = matchAt(TAG, text, 0) ?? [];
  if (name !== undefined) return MARK_WORD.test(tag) && toolNamed(name, tools) !== undefined ? "call" : "other";
  const tool = markedTool(tag, tools);
  if (tool === undefined) return "other";
  // Only an element for a parameter tells such a call from other XML.
  const inner = text.slice(opened.length).trimStart();
  if (/^(?:<[\w-]*)?$/.test(inner)) return "maybe";
  return typesOf(/^<([\w-]+)>/.exec(inner)?.[1] ?? "", tool) === undefined ? "other" : "call";
}

function nameStart(text: string, tools: readonly ToolSchema[], isMarked: boolean): CallStart {
  const named = matchAt(NAME, text, 0);
  const after = text.slice(named?.[0].length ?? 0);
  if (toolNamed(named?.[1], tools) === undefined) return /^(?:[\w.:(-]*|function<.*)$/.test(text) ? "maybe" : "other";
  if (after === "") return "maybe";
  return isMarked || after.startsWith("(") ? "call" : "other";
}

/** Fields before the name that say nothing. */
const NEUTRAL = /^\{\s*(?:["'](?:id|type|call_id|tool_call_id)["']\s*:\s*["'][^"']*["']\s*,\s*)+/;
const OPEN_JSON = /^(?:\{\s*(?:["']\w*(?:["']\s*:?\s*)?|["'](?:id|type|call_id|tool_call_id)["'][^,]*)?)?$/;

function jsonStart(written: string, tools: readonly ToolSchema[], isMarked: boolean): CallStart {
  const text = written.replace(NEUTRAL, "{");
  if (OPEN_JSON.test(text)) return "maybe";
  const [, key = "", value = ""] = /^\{\s*["'](\w+)["']\s*:\s*([\s\S]+)$/.exec(text) ?? [];
  if (isMarked && (INPUT_FIELDS.includes(key) || toolNamed(key, tools) !== undefined)) return "call";
  const inner = /^(?:\[\s*)?(\{[\s\S]*)?$/.exec(value);
  if (inner !== null) return MARK_WORD.test(key) ? jsonStart(inner[1] ?? "", tools, isMarked) : "other";
  const [, name = "", end] = /^["']([\w.-]*)(["']?)/.exec(value) ?? [];
  const isNear = tools.some((tool) => (end === "" ? tool.name.startsWith(name) : tool.name === name));
  if (!NAME_FIELDS.includes(key) || end === undefined || !isNear) return "other";
  return end === "" ? "maybe" : "call";
}
