/**
 * Reads tool calls that a model wrote into its text. The marks around a call differ by its training, but between them stand
 * the name of an offered tool and its arguments: JSON, elements or attributes as in XML, or named arguments as in Python.
 */
import { isRecord, parseJson, parseRepairedJson } from "../../platform/json.ts";
import { counterpart, toolNamed as meantTool } from "../../platform/names.ts";
import { withoutEntities } from "../../platform/one-line.ts";
import type { ToolSchema } from "../wire/wire.ts";

export type WrittenCall = { readonly name: string; readonly input: Readonly<Record<string, unknown>> };

/** Words in tags that other XML and HTML do not have. */
const CALL_WORD = /tool|func|call|invoke/i;
/** Words in the marks around calls: `<tool_call>`, `<function=…>`, `<invoke name=…>`, `<arguments>`, a fence `tool_code`. */
const MARK_WORD = /tool|func|call|invoke|action|arg|param|input|^name$/i;
/** A special token such as `<|python_tag|>`, `<｜tool▁sep｜>` or `</s>`; a bracket in capitals; a mark of ReAct and others. */
const SPECIAL =
  /<[|｜][^<>"'=]*>|(?<=[|｜]tool_call:begin[|｜]>)\w+|<\/?s>|<eo[st]>|\[\/?[A-Z_]{4,}\](?:(?<=CALL_ID\])\w+)?|<server_name>[^<]*<\/server_name>|>>>|\[\|\w+\|\]|<function=(?=[\w.-]+[ ({[])|(?<=<\|channel\|>(?:commentary|analysis) )to=|✿[A-Z]+✿|(?:action|tool)(?: input| call| name)?(?=:)|observation:?(?=\s*$)|functools(?=\[)|to=(?=func)|call:(?=[\w.:-]+\{)/iy;
/** Tags, fences, punctuation, and words of headers between the marks. */
const NOISE =
  /\s+|<\/?([^<>\s"'=]+)>|```([\w-]*)|[[\]();,:}]|(?:assistant|commentary|analysis|json|code(?=<\|)|function(?!\w)|arguments(?=:))/iy;
/** Beginning of a token at the end of a text. */
const OPEN_NOISE =
  /^(?:<[|｜/]{0,2}(?:\w[^<>\n]{0,200})?|<server_name>[^<]*<?\/?\w*|\[\/?[A-Z_]*|`{1,3}[\w-]*|>{1,2}|✿[A-Z]*|call:[\w.:-]*)?$/i;
/** Words that begin a mark. */
const OPEN_WORDS =
  "assistant|analysis|commentary|action:|action input:|tool:|tool call:|tool name:|call:|functools[|to=functions.|functions.".split(
    "|",
  );
/** `<function=NAME>`, `<invoke name="NAME">`, `<parameter=KEY>`, or the name alone as the tag, with further attributes. */
const TAG = /<([^\s<>=/"]+)(?:(?:=|\s+name=)["']?([\w.:/-]+)["']?)?((?:\s[^<>]*)?)>/y;
const ATTRIBUTE = /([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
/** Parts before the name that some models write. */
const SPACES = /^(?:functions?|default_api|tools)[.:]/;
const NAME =
  /(?:function<｜tool▁sep｜>|functions\.|call:|default_api[.:]|print\()*([\w.-]+?)(?:\.call)?(?::\d+)?(?![\w.-])/y;
/** Quotes around text as Gemma writes them. */
const GEMMA_TEXT = /(<escape>|<\|"\|>)([\s\S]*?)\1/g;

const recordIn = (value: unknown): WrittenCall["input"] | undefined => (isRecord(value) ? value : undefined);
const NAME_FIELD = /^(?:name|tool|(?:tool|function)_?name|function|action|recipient_name)$/;
const INPUT_FIELD = /^(?:(?:tool|action|function)_)?(?:arguments|args|parameters|params|input)$/;
const ID_FIELD = /^(?:id|type|index|(?:tool_?)?(?:call|use)_?id)$/i;

/** After the marks that end a call: a result that the model invents. */
const INVENTED =
  /^\s*(?:(?:<\/[^<>]*>|<\|im_end\|>|\[END\w*\])\s*)*(?:<\|im_start\|>|[<[][^\s<>[\]]{0,40}?(?:response|result|output|observation)|observation\b)/i;

/**
 * The calls in `text`, which holds nothing else but invented results. Undefined when a part cannot be read, or when it names
 * no offered tool. `isCut`: the text is cut off, as that of a model that repeats its call without end is. Only calls that it
 * has more than once are whole for certain.
 */
export function readWrittenCalls(
  written: string,
  tools: readonly ToolSchema[],
  isCut = false,
): readonly WrittenCall[] | undefined {
  const text = contentOf(written).replaceAll(GEMMA_TEXT, (_, __, value: string) => JSON.stringify(value));
  const calls: WrittenCall[] = [];
  let ended = 0;
  let isMarked = false;
  for (let at = 0; at < text.length; ) {
    const read = readJson(text, at, tools, isMarked) ?? readNamed(text, at, tools);
    calls.push(...(read?.calls ?? []));
    const noise = afterNoise(text, at);
    isMarked ||= noise.isMark;
    const next = read?.end ?? noise.end;
    if (read !== undefined) ended = next;
    const isRead = next > at || isCut || (ended > 0 && INVENTED.test(text.slice(ended)));
    if (!isRead) return undefined;
    at = next === at ? text.length : next;
  }
  const copies = isCut ? [...Map.groupBy(calls, (call) => JSON.stringify(call)).values()] : [];
  const wanted = isCut ? copies.flatMap(([, again]) => again ?? []) : calls;
  return wanted.length > 0 ? wanted : undefined;
}

/** A gateway or the model may write the signs of a call as entities. An answer that only begins with code has no call. */
function contentOf(written: string): string {
  if (CODE_FENCE.test(written) && !/```\s*$/.test(written)) return "";
  return written.startsWith("&lt;") ? withoutEntities(written) : written;
}

type Read = { readonly calls: readonly WrittenCall[]; readonly end: number };

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** End of the noise token at `at`; `at` itself when there is none. `isMark`: it announces a call. Keys of `tool` are none. */
function afterNoise(text: string, at: number, tool?: ToolSchema): { readonly end: number; readonly isMark: boolean } {
  const special = matchAt(SPECIAL, text, at)?.[0];
  if (special !== undefined) return { end: at + special.length, isMark: /\w/.test(special) || special === ">>>" };
  const [token = "", tag, fence] = matchAt(NOISE, text, at) ?? [];
  const word = tag ?? fence ?? "";
  const isMark = MARK_WORD.test(word) && (tag === undefined || tool === undefined || typesOf(tag, tool) === undefined);
  const isFrame = word === "" || word === "answer" || fence !== undefined;
  return { end: isFrame || isMark ? at + token.length : at, isMark };
}

function skipNoise(text: string, from: number, tool?: ToolSchema): number {
  let at = from;
  for (let { end } = afterNoise(text, at, tool); end > at; { end } = afterNoise(text, at, tool)) at = end;
  return at;
}

/** JSON of one call, or of an object around calls. */
function readJson(text: string, at: number, tools: readonly ToolSchema[], isMarked: boolean): Read | undefined {
  // A model forgets the last brace before the end of its mark.
  const json =
    text[at] === "{" ? (bracketedAt(text, at) ?? /^\{[\s\S]*?\}(?=\s*(?:<\/|$))/.exec(text.slice(at))?.[0]) : undefined;
  const calls = json === undefined ? undefined : callsOf(parseLoosely(json), tools, isMarked);
  return calls && { calls, end: at + (json?.length ?? 0) };
}

function callsOf(value: unknown, tools: readonly ToolSchema[], isMarked: boolean): readonly WrittenCall[] | undefined {
  if (Array.isArray(value)) {
    const calls = value.map((item) => callsOf(item, tools, isMarked));
    return calls.every((call) => call !== undefined) ? calls.flat() : undefined;
  }
  const [[key, only] = ["", undefined], other] = Object.entries(recordIn(value) ?? {});
  if (other !== undefined || typeof only !== "object") return callOf(value, tools, isMarked);
  const tool = markedTool(key, tools);
  const input = tool && recordIn(only);
  if (tool && input) return [{ name: tool.name, input }];
  return MARK_WORD.test(key) || key === "tool_uses" ? callsOf(only, tools, isMarked) : undefined;
}

/** Fields beside those of a call are its arguments when the tool has them all; else it is data, such as a package.json. */
function callOf(value: unknown, tools: readonly ToolSchema[], isMarked: boolean): readonly WrittenCall[] | undefined {
  const fields = Object.entries(recordIn(value) ?? {});
  const nested = fields.find(([key, each]) => key === "function" && typeof each === "object");
  if (nested) return callsOf(nested[1], tools, isMarked);
  const name = fields.find(([key, each]) => NAME_FIELD.test(key) && typeof each === "string")?.[1];
  const tool = toolNamed(name, tools, isMarked);
  const given = fields.find(([key]) => INPUT_FIELD.test(key));
  if (tool === undefined) return isRecord(given?.[1]) ? callsOf(given[1], tools, isMarked) : undefined;
  const others = fields.filter(([key]) => !NAME_FIELD.test(key) && !INPUT_FIELD.test(key) && !ID_FIELD.test(key));
  if (others.some(([key]) => given !== undefined || typesOf(key, tool) === undefined)) return undefined;
  // A name alone calls a tool only inside marks.
  const input =
    given === undefined && (isMarked || others.length > 0) ? Object.fromEntries(others) : inputOf(given?.[1]);
  return input && [{ name: tool.name, input }];
}

function inputOf(given: unknown): WrittenCall["input"] | undefined {
  if (given === null) return {};
  const value = typeof given === "string" ? parseLoosely(given) : given;
  return recordIn(Array.isArray(value) && value.length === 1 ? value[0] : value);
}

/** A name, in a tag or plain, and then the arguments. A missing end tag means the end of the answer. */
function readNamed(text: string, at: number, tools: readonly ToolSchema[]): Read | undefined {
  const tag = matchAt(TAG, text, at);
  if (tag === null) {
    const [name = "", plain] = matchAt(NAME, text, at) ?? [];
    const tool = toolNamed(plain, tools, true);
    const body = tool && readInput(text, at + name.length, tool);
    return tool && body && { calls: [{ name: tool.name, input: body.input }], end: body.end };
  }
  const [opened, word = "", name, attributes] = tag;
  if (name !== undefined && !MARK_WORD.test(word)) return undefined;
  const tool = name === undefined ? markedTool(word, tools) : toolNamed(name, tools, true);
  const end = at + opened.length;
  const body = tool && (attributesOf(attributes, end, tool) ?? readInput(text, end, tool));
  // The tag of a tool without arguments may be other XML.
  const isOther = name === undefined && Object.keys(body?.input ?? {}).length === 0;
  if (tool === undefined || body === undefined || isOther) return undefined;
  const close = `</${word}>`;
  const closed = text.indexOf(close, body.end);
  const isNext = closed >= 0 && text.slice(body.end, closed).trim() === "";
  return { calls: [{ name: tool.name, input: body.input }], end: isNext ? closed + close.length : body.end };
}

type ReadInput = { readonly input: WrittenCall["input"]; readonly end: number };

/** Arguments in the tag of the call; undefined without any. */
function attributesOf(written = "", end: number, tool: ToolSchema): ReadInput | undefined {
  const input: Record<string, unknown> = {};
  for (const [, key = "", double, single = ""] of written.matchAll(ATTRIBUTE)) {
    const value = double ?? single;
    if (typesOf(key, tool) !== undefined) input[key] = typedValue(value, typesOf(key, tool));
    else if (INPUT_FIELD.test(key)) Object.assign(input, inputOf(value));
  }
  return Object.keys(input).length > 0 ? { input, end } : undefined;
}

function readInput(text: string, at: number, tool: ToolSchema): ReadInput | undefined {
  const isPython = text[at] === "(";
  const start = isPython ? at : skipNoise(text, at, tool);
  if (isPython || text[start] === "{") {
    const body = bracketedAt(text, start);
    if (body === undefined) return undefined;
    const input = recordIn(isPython ? pythonInput(body.slice(1, -1), tool) : parseLoosely(body));
    return input && { input, end: start + body.length };
  }
  const read = readElements(text, at, tool);
  return read && Object.keys(read.input).length > 0 ? read : (readElements(text, start, tool) ?? read);
}

/** Elements with a value each. GLM and others write the key into an element of its own. */
function readElements(text: string, from: number, tool: ToolSchema): ReadInput | undefined {
  const input: Record<string, unknown> = {};
  let end = from;
  let key: string | undefined;
  for (let start = endOfSpace(text, end); ; start = endOfSpace(text, end)) {
    const [opened = "", tag = "", name] = matchAt(TAG, text, start) ?? [];
    const isPair = /arg_(?:key|value)$/.test(tag);
    if (opened === "" || (name === undefined && !isPair && MARK_WORD.test(tag) && typesOf(tag, tool) === undefined))
      break;
    const value = elementText(text, start + opened.length, tag);
    const field: string = name ?? (isPair ? (key ?? "") : tag);
    if (tag.endsWith("arg_key")) key = value.text.trim();
    else {
      input[field] = typedValue(value.text, typesOf(field, tool));
      key = undefined;
    }
    end = value.end;
  }
  // A tool without arguments has at least an end.
  return end > from || text.startsWith("</", endOfSpace(text, from)) ? { input, end } : undefined;
}

/** Text of an element. Without its end tag it ends before the next element of its kind, or at an end tag on a line of its own. */
function elementText(text: string, start: number, tag: string): { readonly text: string; readonly end: number } {
  const close = `</${tag}>`;
  const stop = text.indexOf(close, start);
  if (stop >= 0) return { text: text.slice(start, stop), end: stop + close.length };
  const rest = text.slice(start);
  const found = [rest.indexOf(`\n<${tag}`), rest.search(/\n<\/[\w:-]*(?:tool|func|call|invoke)/)].filter(
    (at) => at >= 0,
  );
  const chars = found.length === 0 ? rest.length : Math.min(...found);
  return { text: rest.slice(0, chars), end: start + chars };
}

/** Schemas of the parameters. A property may have any schema, also none: `true`. */
function propertiesOf({ parameters: { properties } }: ToolSchema): Readonly<Record<string, unknown>> {
  return isRecord(properties) ? properties : {};
}

function typesOf(parameter: string, tool: ToolSchema): readonly unknown[] | undefined {
  const property = Object.hasOwn(propertiesOf(tool), parameter) ? propertiesOf(tool)[parameter] : undefined;
  return property === undefined ? undefined : [isRecord(property) ? property["type"] : undefined].flat();
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

/** Arguments as in Python: repaired JSON once its keys and texts have JSON's quotes. Without names, in the order of the tool. */
function pythonInput(written: string, tool: ToolSchema): unknown {
  const json = written.replaceAll(PYTHON_TOKEN, (token: string, ...groups: readonly (string | undefined)[]) => {
    const [, long, short, key] = groups;
    if (key !== undefined) return `"${key}":`;
    if (long !== undefined) return JSON.stringify(long);
    return short === undefined ? token : `"${short.replaceAll("\\'", "'").replaceAll(/(?<!\\)"/g, '\\"')}"`;
  });
  if (/^\s*\{/.test(json)) return parseLoosely(json);
  const values: unknown =
    /^\s*"(?:[^"\\]|\\.)*":/.test(json) || json.trim() === "" ? undefined : parseLoosely(`[${json}]`);
  if (!Array.isArray(values)) return parseLoosely(`{${json}}`);
  const names = Object.keys(propertiesOf(tool));
  return values.length > names.length ? undefined : Object.fromEntries(values.map((value, at) => [names[at], value]));
}

/** Other JSON has names, too: without marks only a tool's own counts. One of another agent stays, so that its answer names ours. */
function toolNamed(name: unknown, tools: readonly ToolSchema[], isMarked: boolean): ToolSchema | undefined {
  if (typeof name !== "string" || !isMarked) return markedTool(name, tools);
  const foreign = counterpart(name, tools);
  return meantTool(name, tools) ?? (foreign && { ...foreign, name });
}

/** Tool whose name alone, as it is, marks a call. `tool_call` is a mark of many models first. */
function markedTool(name: unknown, tools: readonly ToolSchema[]): ToolSchema | undefined {
  if (typeof name !== "string" || name === "tool_call") return undefined;
  const own = name.replace(SPACES, "");
  return (
    tools.find((tool) => tool.name === own) ??
    (tools.some((tool) => tool.name.endsWith(`__${own}`)) ? meantTool(own, tools) : undefined)
  );
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

/** Undefined for text that even a repair does not make JSON: it is shown instead. Templates double the braces. */
function parseLoosely(json: string): unknown {
  const once = /^\{\s*(\{[\s\S]*\})\s*\}$/.exec(json)?.[1];
  return parseJson(json) ?? parseRepairedJson(once ?? json);
}

/** Characters after which a beginning must have named a tool. */
const LONGEST_START = 400;

/** Test for the beginning of a written call: it names an offered tool, it may become one, or it is other text. */
export type CallStart = "call" | "maybe" | "other";

/** `mayBeBare`: calls without marks count too, and with `first`, for the start of the answer, those in code or by name alone. */
export function callStart(text: string, tools: readonly ToolSchema[], mayBeBare: boolean | "first"): CallStart {
  const start = text.slice(0, LONGEST_START);
  if (start[0] === "`" && mayBeBare === false) return "other";
  if (mayBeBare === "first" && "&lt;".startsWith(start)) return "maybe";
  const isEscaped = mayBeBare === "first" && start.startsWith("&lt;");
  const head = isEscaped ? withoutEntities(start.replace(/&[#\w]{0,4}$/, "")) : start;
  const found = startOf(head, 0, { tools, mayBeBare, isMarked: /^functions\.\w/.test(head) });
  return found === "maybe" && start.length === LONGEST_START ? "other" : found;
}

const CODE_FENCE = /^```(?!json\b|[\w-]*(?:tool|func|call))[\w-]+\s+/;

type StartOptions = {
  readonly tools: readonly ToolSchema[];
  readonly mayBeBare: boolean | "first";
  /** A mark of a call precedes. */
  readonly isMarked: boolean;
};

function startOf(head: string, at: number, options: StartOptions): CallStart {
  const rest = head.slice(at);
  const decided = decidedStart(rest, options, at > 0 && head.startsWith("["));
  if (decided !== undefined) return decided;
  const { end, isMark } = afterNoise(head, at);
  if (/^\[\/?[A-Z_]{2,}$/.test(rest)) return "maybe";
  const isOpen = OPEN_NOISE.test(rest) || OPEN_WORDS.some((word) => word.startsWith(rest.toLowerCase()));
  if (end === at || end === head.length) return end > at || isOpen ? "maybe" : "other";
  return startOf(head, end, { ...options, isMarked: options.isMarked || isMark });
}

/** Undefined for marks before a call. */
function decidedStart(rest: string, options: StartOptions, isInList: boolean): CallStart | undefined {
  const { tools, mayBeBare, isMarked } = options;
  const tag = tagStart(rest, tools, isMarked);
  if (tag !== "other") return tag;
  const isJson = isMarked || (mayBeBare && /^\{+\s*(?:["'[{]|$)/.test(rest));
  if (rest.startsWith("{")) return isJson ? jsonStart(rest, tools, isMarked) : "other";
  const isFirst = !isMarked && mayBeBare === "first";
  const first = isFirst ? firstStart(rest.replace(CODE_FENCE, ""), tools) : "other";
  if (first !== "other" || (!isMarked && CODE_FENCE.test(rest))) return first;
  const named = isMarked || (mayBeBare && isInList) ? nameStart(rest, tools, isMarked) : "other";
  return named === "other" ? undefined : named;
}

function tagStart(text: string, tools: readonly ToolSchema[], isMarked: boolean): CallStart {
  const [opened = "", tag = "", name, attributes = ""] = matchAt(TAG, text, 0) ?? [];
  const isCall = isMarked || CALL_WORD.test(tag);
  if (name !== undefined) return MARK_WORD.test(tag) && toolNamed(name, tools, isCall) !== undefined ? "call" : "other";
  const tool = markedTool(tag, tools);
  if (tool === undefined) return "other";
  // Only an element or attribute for a parameter, or JSON, tells such a call from other XML.
  if (attributesOf(attributes, 0, tool) !== undefined) return "call";
  const inner = text.slice(opened.length).trimStart();
  if (/^(?:<[\w-]*|\{)?$/.test(inner)) return "maybe";
  if (inner.startsWith("{")) return isMarked || /^\{\s*["}]/.test(inner) ? "call" : "other";
  return typesOf(/^<([\w-]+)>/.exec(inner)?.[1] ?? "", tool) === undefined ? "other" : "call";
}

function nameStart(text: string, tools: readonly ToolSchema[], isMarked: boolean): CallStart {
  const named = matchAt(NAME, text, 0);
  const after = text.slice(named?.[0].length ?? 0);
  if (toolNamed(named?.[1], tools, isMarked) === undefined)
    return /^(?:[\w.:(-]*|function<[^>]*)$/.test(text) ? "maybe" : "other";
  if (/^ *[a-z]?$/i.test(after) || HEADER_WORDS.some((word) => word.startsWith(after))) return "maybe";
  if (!isMarked) return after.startsWith("(") ? "call" : "other";
  return /^ +[a-z]{2}/i.test(after.replace(/^(?: commentary| analysis)?(?: json| code)?/, "")) ? "other" : "call";
}

/** Words between a name and its arguments, as gpt-oss writes them. */
const HEADER_WORDS = [" json", " code", " commentary json", " commentary code", " analysis json", " analysis code"];

/** A name and, in Python or as JSON on the next line, the first argument with the beginning of a literal; and what may become it. */
const FIRST =
  /^(?:print\()?([\w.-]+)(?:\(\s*(\w+)\s*=|(?:\s*\n\s*|\[ARGS\])?\{\s*"(\w+)"\s*:)\s*(?:["'\d[{-]|(?:true|false|none|null)\s*[,)}])/i;
const OPEN_FIRST =
  /^(?:print\()?([\w.-]*)(\(\s*(?:\w+\s*(?:=\s*\w*\s*)?)?|(?:\[[ARGS]*\]?)?\s*(?:\n?\s*(?:\{\s*(?:"\w*(?:"\s*(?::\s*\w*\s*)?)?)?)?)?)$/;

function firstStart(text: string, tools: readonly ToolSchema[]): CallStart {
  const [, name, python, key = python] = FIRST.exec(text) ?? [];
  const tool = markedTool(name, tools);
  if (tool !== undefined) return typesOf(key ?? "", tool) === undefined ? "other" : "call";
  if ("print(".startsWith(text)) return "maybe";
  const [, begun, after] = OPEN_FIRST.exec(text) ?? [];
  return begun === undefined || nameValue(begun, after !== "", tools, false) === "other" ? "other" : "maybe";
}

const JSON_KEY = /["']?(\w+)["']?\s*:\s*(?:["']([\w.:/-]*)(["']?))?/g;

/** A field for a name whose value goes on. */
const OPEN_NAME = new RegExp(`\\b(?:${NAME_FIELD.source.slice(1, -1)})["']?\\s*:\\s*["'][\\w.:/-]*$`);

/** Decided by the first fields: the name of a tool, or a mark around calls. */
function jsonStart(text: string, tools: readonly ToolSchema[], isMarked: boolean): CallStart {
  const named = isMarked ? undefined : namedStart(text, tools);
  if (named !== undefined) return named;
  if (OPEN_NAME.test(text)) return "maybe";
  for (const [, key = "", value, end] of text.matchAll(JSON_KEY)) {
    if (markedTool(key, tools) !== undefined || INPUT_FIELD.test(key)) return isMarked ? "call" : "other";
    if (NAME_FIELD.test(key) && value !== undefined) return nameValue(value, end !== "", tools, isMarked);
    if (![ID_FIELD, NAME_FIELD, MARK_WORD].some((known) => known.test(key))) return "other";
  }
  return "maybe";
}

/** For JSON whose first key is a tool's name, decided by the first argument; else undefined. */
function namedStart(text: string, tools: readonly ToolSchema[]): CallStart | undefined {
  const [only, inner] = [...text.matchAll(JSON_KEY)].map(([, key]) => key);
  const tool = markedTool(only, tools);
  if (tool === undefined || inner === undefined) return tool && "maybe";
  return typesOf(inner, tool) === undefined ? "other" : "call";
}

function nameValue(value: string, isWhole: boolean, tools: readonly ToolSchema[], isMarked: boolean): CallStart {
  if (isWhole) return toolNamed(value, tools, isMarked) === undefined ? "other" : "call";
  const plain = value.replace(SPACES, "");
  const isNear = tools.some(({ name }) => name.startsWith(plain) || name.includes(`__${plain}`));
  return isNear || ["functions.", "default_api."].some((word) => word.startsWith(value)) ? "maybe" : "other";
}
