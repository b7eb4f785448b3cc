/**
 * Reads tool calls that a model wrote into its text, in the formats of its training: JSON (Hermes, Qwen, Llama, Phi,
 * Granite), tags (Qwen3-Coder, MiniMax, DeepSeek V3.2), a name before JSON (Mistral, Kimi, DeepSeek) or pairs (GLM),
 * or as Gemma does: `call:NAME{…}`, or a Python call in a fence.
 */
import * as z from "zod";
import { parseJson, parseRepairedJson } from "../../platform/json.ts";
import type { ToolSchema } from "../wire/wire.ts";

export type WrittenCall = { readonly name: string; readonly input: Readonly<Record<string, unknown>> };

/** Beginnings of calls in tags or special tokens. */
export const CALL_MARKS: readonly string[] = [
  "<tool_call>",
  "<tool_calls>",
  "<function_call>",
  "<function_calls>",
  "<function=",
  "<invoke name=",
  "<minimax:tool_call>",
  "<seed:tool_call>",
  "<|tool_call|>",
  "<|tool_calls_section_begin|>",
  "<|tool_call_begin|>",
  "<|python_tag|>",
  "<｜tool▁calls▁begin｜>",
  "<｜tool▁call▁begin｜>",
  "<｜DSML｜function_calls>",
  "<start_function_call>",
  "[TOOL_CALLS]",
];

/** Parts around calls that mean nothing by themselves. */
const NOISE =
  /\s+|<\/?(?:tool_calls?|function_calls?|(?:minimax|seed):tool_call|(?:start|end)_function_call)>|<\|\/?[\w ]+\|>|<｜(?!DSML)[^｜<>]*｜>|<\/?｜DSML｜function_calls>|\[\/?(?:TOOL_CALLS|ARGS)\]|\[CALL_ID\]\w*|```[\w-]*|[;,]/y;
const TAG = /<(?:function=|function name=|invoke name=|｜DSML｜invoke name=)"?([\w.-]+)"?\s*>/y;
const TAG_END = /\s*<\/(?:｜DSML｜)?(?:function|invoke)>/y;
const PARAMETER = /\s*<(｜DSML｜)?parameter(?:=| name=)"?([\w.-]+)"?[^>]*>/y;
const NAME = /(?:function<｜tool▁sep｜>|functions\.|call:)?([\w.-]+?)(?::\d+)?(?![\w.:-])/y;
const PAIR = /\s*<arg_key>([\s\S]*?)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>/y;

const record = z.record(z.string(), z.unknown());
const NAME_FIELDS = ["name", "tool", "tool_name", "function"] as const;
const INPUT_FIELDS = ["arguments", "parameters", "input", "args", "tool_input"] as const;
/** JSON with other fields is data, such as a package.json. */
const CALL_FIELDS: ReadonlySet<string> = new Set([...NAME_FIELDS, ...INPUT_FIELDS, "id", "type", "call_id"]);

/**
 * The calls in `text`, which holds nothing else. Undefined when a part cannot be read, or when it names no offered
 * tool.
 */
export function readWrittenCalls(written: string, tools: readonly ToolSchema[]): readonly WrittenCall[] | undefined {
  // Gemma's quotes around text.
  const text = written.replaceAll(/<escape>([\s\S]*?)<escape>/g, (_, value: string) => JSON.stringify(value));
  const reads = PYTHON_FENCE.test(text) ? [readPython, ...READS] : READS;
  const calls: WrittenCall[] = [];
  for (let at = skipNoise(text, 0); at < text.length; at = skipNoise(text, at)) {
    const read = reads.map((one) => one(text, at, tools)).find((found) => found !== undefined);
    if (read === undefined) return undefined;
    calls.push(...read.calls);
    at = read.end;
  }
  return calls.length > 0 ? calls : undefined;
}

const READS = [readTag, readJsonCalls, readNamed];

type Read = { readonly calls: readonly WrittenCall[]; readonly end: number };

function skipNoise(text: string, from: number): number {
  NOISE.lastIndex = from;
  let at = from;
  while (NOISE.test(text)) at = NOISE.lastIndex;
  return at;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** `<function=NAME>` with parameters in tags, or with JSON. A missing end tag means the end of the answer. */
function readTag(text: string, at: number, tools: readonly ToolSchema[]): Read | undefined {
  const opened = matchAt(TAG, text, at);
  const tool = toolNamed(opened?.[1], tools);
  if (opened === null || tool === undefined) return undefined;
  const start = skipNoise(text, at + opened[0].length);
  const json = jsonAt(text, start);
  const body = json === undefined ? readParameters(text, start, tool) : inputOfJson(json, start + json.length);
  if (body === undefined) return undefined;
  const closed = matchAt(TAG_END, text, body.end);
  const end = closed === null ? body.end : body.end + closed[0].length;
  return { calls: [{ name: tool.name, input: body.input }], end };
}

type ReadInput = { readonly input: WrittenCall["input"]; readonly end: number };

function readParameters(text: string, from: number, tool: ToolSchema): ReadInput | undefined {
  const pairs: (readonly [string, string])[] = [];
  let end = from;
  for (let opened = matchAt(PARAMETER, text, end); opened !== null; opened = matchAt(PARAMETER, text, end)) {
    const [tag, prefix = "", name = ""] = opened;
    const close = `</${prefix}parameter>`;
    const start = end + tag.length;
    const stop = text.indexOf(close, start);
    if (stop < 0) return undefined;
    pairs.push([name, text.slice(start, stop)]);
    end = stop + close.length;
  }
  return { input: inputOfPairs(pairs, tool), end };
}

function inputOfJson(json: string, end: number): ReadInput | undefined {
  const input = record.safeParse(parseLoosely(json)).data;
  return input && { input, end };
}

/** One call as JSON, or a list of calls. */
function readJsonCalls(text: string, at: number, tools: readonly ToolSchema[]): Read | undefined {
  const json = jsonAt(text, at);
  if (json === undefined) return undefined;
  const value = parseLoosely(json);
  const calls = (Array.isArray(value) ? value : [value]).map((item) => callOf(item, tools));
  const read = calls.filter((call) => call !== undefined);
  return read.length > 0 && read.length === calls.length ? { calls: read, end: at + json.length } : undefined;
}

function callOf(value: unknown, tools: readonly ToolSchema[]): WrittenCall | undefined {
  const fields = record.safeParse(value).data;
  if (fields === undefined) return undefined;
  if (Object.keys(fields).some((field) => !CALL_FIELDS.has(field))) return undefined;
  if (typeof fields["function"] === "object") return callOf(fields["function"], tools);
  const name = NAME_FIELDS.map((field) => fields[field]).find((given) => typeof given === "string");
  const tool = toolNamed(name, tools);
  if (tool === undefined) return undefined;
  const given = INPUT_FIELDS.map((field) => fields[field]).find((input) => input !== undefined && input !== null);
  const input = record.safeParse(typeof given === "string" ? parseLoosely(given) : given).data;
  return input && { name: tool.name, input };
}

/** A name and then JSON or pairs. */
function readNamed(text: string, at: number, tools: readonly ToolSchema[]): Read | undefined {
  const named = matchAt(NAME, text, at);
  const tool = toolNamed(named?.[1], tools);
  if (named === null || tool === undefined) return undefined;
  let end = at + named[0].length;
  const pairs: (readonly [string, string])[] = [];
  for (let pair = matchAt(PAIR, text, end); pair !== null; pair = matchAt(PAIR, text, end)) {
    pairs.push([(pair[1] ?? "").trim(), pair[2] ?? ""]);
    end += pair[0].length;
  }
  if (pairs.length > 0) return { calls: [{ name: tool.name, input: inputOfPairs(pairs, tool) }], end };
  const start = skipNoise(text, end);
  const json = jsonAt(text, start);
  if (json === undefined) return undefined;
  const body = inputOfJson(json, start + json.length);
  return body && { calls: [{ name: tool.name, input: body.input }], end: body.end };
}

const PYTHON_FENCE = /^\s*```tool_code\s/;
/** Names before a tool in Python: Gemma was trained with both. */
const PYTHON_NAME = /(?:print\()?(?:default_api\.)?([\w.-]+)\(/y;
const PYTHON_KEY = /\s*([A-Za-z_]\w*)\s*=\s*/y;
const PYTHON_TEXT = /"""([\s\S]*?)"""|'''([\s\S]*?)'''|"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'/y;
const PYTHON_WORD = /True|False|None|-?\d+(?:\.\d+)?/y;
const PYTHON_WORDS: Readonly<Record<string, unknown>> = { True: true, False: false, None: null };
const PYTHON_ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

/** A call in Python with named arguments: `read_file(path="a.txt")`. */
function readPython(text: string, at: number, tools: readonly ToolSchema[]): Read | undefined {
  const opened = matchAt(PYTHON_NAME, text, at);
  const tool = toolNamed(opened?.[1], tools);
  if (opened === null || tool === undefined) return undefined;
  const input: Record<string, unknown> = {};
  let end = at + opened[0].length;
  for (let key = matchAt(PYTHON_KEY, text, end); key !== null; key = matchAt(PYTHON_KEY, text, end)) {
    const read = readPythonValue(text, end + key[0].length);
    if (read === undefined) return undefined;
    input[key[1] ?? ""] = read.value;
    end = read.end + (/^\s*,/.exec(text.slice(read.end))?.[0].length ?? 0);
  }
  const closed = /^\s*\)+/.exec(text.slice(end));
  return closed === null ? undefined : { calls: [{ name: tool.name, input }], end: end + closed[0].length };
}

function readPythonValue(text: string, at: number): { readonly value: unknown; readonly end: number } | undefined {
  const quoted = matchAt(PYTHON_TEXT, text, at);
  if (quoted !== null) {
    const [whole, ...bodies] = quoted;
    const body = bodies.find((one) => one !== undefined) ?? "";
    const value = body.replaceAll(/\\([\s\S])/g, (_, letter: string) => PYTHON_ESCAPES[letter] ?? letter);
    return { value, end: at + whole.length };
  }
  const word = matchAt(PYTHON_WORD, text, at)?.[0];
  if (word !== undefined)
    return { value: word in PYTHON_WORDS ? PYTHON_WORDS[word] : Number(word), end: at + word.length };
  const json = jsonAt(text, at);
  return json === undefined ? undefined : { value: parseLoosely(json), end: at + json.length };
}

function toolNamed(name: string | undefined, tools: readonly ToolSchema[]): ToolSchema | undefined {
  return tools.find((tool) => tool.name === name);
}

const schemaOfInput = z.looseObject({ properties: z.record(z.string(), z.looseObject({ type: z.unknown() })) });

/** Text is a value of another type only where the tool's schema wants no string. */
function inputOfPairs(pairs: readonly (readonly [string, string])[], { parameters }: ToolSchema): WrittenCall["input"] {
  const properties = schemaOfInput.safeParse(parameters).data?.properties ?? {};
  return Object.fromEntries(
    pairs.map(([key, text]) => {
      const types = [properties[key]?.type].flat();
      return [key, types.includes("string") ? text.replace(/^\n|\n$/g, "") : parsedOr(text.trim())];
    }),
  );
}

function parsedOr(text: string): unknown {
  const value = parseJson(text);
  return value === undefined ? text : value; // the tool reports a value of the wrong type
}

/** Strings and brackets of JSON. A string may lack its end. */
const JSON_TOKEN = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|[{}[\]]/g;

/** Complete JSON of an object or a list at `at`; undefined when there is none. */
function jsonAt(text: string, at: number): string | undefined {
  if (text[at] !== "{" && text[at] !== "[") return undefined;
  let depth = 0;
  for (const { 0: token, index } of text.slice(at).matchAll(JSON_TOKEN)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
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
/** Unfinished tag or token at the end of a text. */
const OPEN_TOKEN = /(?:<[^<>]*|\[[A-Z_]*)$/;

const FENCES = ["```", "```json", "```tool_call", "```tool_code"];
const OPEN_FENCE = /^`{1,3}\w*\s{0,9}$/;
const JSON_FENCE = /^```(?:json|tool_call|tool_code)?\s+(?=[[{])/;
/** Quick test, since code is full of braces. */
const JSON_START = /^(?:\[\s*)?(?:\{\s*(?:"|$)|$)/;

/** Test for the beginning of a written call: it names an offered tool, it may become one, or it is other text. */
export type CallStarts = (text: string) => "call" | "maybe" | "other";

/** Beginnings of calls inside marks. */
export function markedStarts(tools: readonly ToolSchema[]): CallStarts {
  const json = jsonStarts(tools);
  const other = tools.flatMap(({ name }) => [
    `<function=${name}>`,
    `<functionname="${name}">`,
    `<invokename="${name}">`,
    `<｜DSML｜invokename="${name}">`,
    `function${name}`,
    `functions.${name}`,
    `call:${name}`,
    name,
  ]);
  const starts = [...json, '{"arguments":', '{"parameters":', ...other];
  return (text) => {
    const head = text.slice(0, LONGEST_START);
    const isLong = head.length === LONGEST_START;
    const body = head.slice(skipNoise(head, 0)).replaceAll(/<｜(?!DSML)[^｜<>]*｜>/g, "");
    const found = comparedWith(starts, body);
    if (isLong) return found === "call" ? found : "other";
    if (found !== "other") return found;
    const closed = body.replace(OPEN_TOKEN, "");
    return closed === body ? "other" : comparedWith(starts, closed);
  };
}

/** Beginnings of calls as bare JSON, in a code fence or not. */
export function bareStarts(tools: readonly ToolSchema[]): CallStarts {
  const starts = jsonStarts(tools);
  const python = tools.flatMap(({ name }) =>
    [name, `default_api.${name}`].flatMap((call) => [`${call}(`, `print(${call}(`]),
  );
  return (text) => {
    const head = text.slice(0, LONGEST_START);
    const inFence = PYTHON_FENCE.test(head) ? comparedWith(python, head.replace(PYTHON_FENCE, "")) : "other";
    if (inFence !== "other") return inFence;
    if (OPEN_FENCE.test(head)) return FENCES.some((fence) => fence.startsWith(head.trim())) ? "maybe" : "other";
    const json = head.replace(JSON_FENCE, "");
    const found = JSON_START.test(json) ? comparedWith(starts, json) : "other";
    return found === "maybe" && head.length === LONGEST_START ? "other" : found;
  };
}

function jsonStarts(tools: readonly ToolSchema[]): readonly string[] {
  const objects = tools.flatMap(({ name }) => {
    const text = JSON.stringify(name);
    const named = [`{"name":${text}`, `{"tool":${text}`, `{"tool_name":${text}`, `{"function":${text}`];
    return [...named, `{"function":{"name":${text}`, `{"type":"function","name":${text}`].concat(
      `{"type":"function","function":{"name":${text}`,
    );
  });
  return [...objects, ...objects.map((start) => `[${start}`)];
}

function comparedWith(starts: readonly string[], text: string): ReturnType<CallStarts> {
  const given = compact(text);
  if (starts.some((start) => given.startsWith(start))) return "call";
  return starts.some((start) => start.startsWith(given)) ? "maybe" : "other";
}

function compact(text: string): string {
  return text.replaceAll(/\s+/g, "");
}
