/**
 * The tools of a session: the built-in ones and those of its extensions. They change only with those of the extensions. The schemas of
 * tools that few turns need are deferred: the model finds them with tool_search.
 */
import * as z from "zod";
import { findBrowser } from "../browser/find-browser.ts";
import { textTokens } from "../context/token-meter.ts";
import { ranked } from "../memory/statement.ts";
import { oneLine } from "../platform/one-line.ts";
import { unknownToolText } from "../tools/nearest-names.ts";
import { table as toolTable } from "../tools/table.gen.ts";
import { defineTool, type Tool } from "../tools/tool.ts";
import { isToolsetOn, selectTools, type ToolChoice } from "../tools/toolsets.ts";
import type { AIAgentOptions } from "./agent-options.ts";

export class ToolCatalogue {
  readonly #builtIn: readonly Tool[];
  readonly #further: () => readonly Tool[];
  /** Toolsets that the user named. */
  readonly #named: readonly string[];
  /** Tools of the extensions at the last refresh. */
  #taken: readonly Tool[] = [];
  /** Window of the current model. */
  #window = 0;
  #tools: readonly Tool[] = [];
  #callable: readonly Tool[] = [];
  #schemaText: string | undefined;

  /**
   * `further`: returns the current tools of the extensions. A built-in tool hides one with the same name. Throws an Error in
   * one line for an unknown toolset.
   */
  constructor(options: AIAgentOptions, further: () => readonly Tool[]) {
    const choice = choiceOf(options);
    this.#builtIn = builtInTools(options, choice);
    this.#named = options.enabledToolsets ?? [];
    this.#further = () => further().filter((tool) => isToolsetOn(tool, choice) && isInherited(tool, options));
    this.#arrange(ROOMY_WINDOW, []);
  }

  /** Tools whose schemas are in the request. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** All tools, those with deferred schemas too. */
  get callable(): readonly Tool[] {
    return this.#callable;
  }

  /** Names of all tools, those of disabled toolsets too. */
  get known(): readonly string[] {
    return [...new Set([...toolTable, ...this.#further()].map(({ name }) => name))];
  }

  /** The schemas as text, for token estimates. */
  get schemaText(): string {
    this.#schemaText ??= JSON.stringify(this.#tools.map((tool) => tool.schema));
    return this.#schemaText;
  }

  /** Takes the extensions' tools for the next request. `window`: tokens of the model's context. Default: as before. */
  refresh(window: number = this.#window): void {
    const names = new Set(this.#builtIn.map(({ name }) => name));
    const taken = this.#further().filter(({ name }) => !names.has(name));
    const isSame = taken.length === this.#taken.length && taken.every((tool, index) => tool === this.#taken[index]);
    if (window !== this.#window || !isSame) this.#arrange(window, taken);
  }

  #arrange(window: number, taken: readonly Tool[]): void {
    this.#window = window;
    this.#taken = taken;
    const all = [...this.#builtIn, ...taken];
    const deferred = this.#deferred(all, window);
    const directory = deferred.length === 0 ? [] : directoryTools(deferred, directoryChars(window));
    // New tools of extensions come last: a cached prefix holds the tools before them.
    this.#tools = [...this.#builtIn, ...directory, ...taken].filter((tool) => !deferred.includes(tool));
    this.#callable = [...all, ...directory];
    this.#schemaText = undefined;
  }

  #deferred(all: readonly Tool[], window: number): readonly Tool[] {
    const isRoomy = window >= ROOMY_WINDOW;
    const foreign = all.filter(({ need }) => need === "foreign");
    const keepsForeign = !exceedsRequest(foreign, window);
    const deferred = all.filter(({ need, toolset }) => {
      if (need === "foreign") return !keepsForeign;
      return need === "rare" ? !isRoomy || !this.#named.includes(toolset) : need === "common" && !isRoomy;
    });
    return schemaChars(deferred) > MIN_DEFERRED_CHARS ? deferred : [];
  }
}

function choiceOf({ enabledToolsets, disabledToolsets }: AIAgentOptions): ToolChoice {
  return { enabled: enabledToolsets, disabled: disabledToolsets };
}

function isInherited({ name }: Tool, { inherited }: AIAgentOptions): boolean {
  return inherited?.toolNames.has(name) ?? true;
}

function builtInTools(options: AIAgentOptions, choice: ToolChoice): readonly Tool[] {
  const { sessionIndex, memory, skills, host, browser, web, cron } = options;
  const chosen = selectTools(toolTable, choice);
  if (!chosen.ok) throw new Error(chosen.message);
  return chosen.tools
    .filter((tool) => isInherited(tool, options))
    .filter((tool) => tool.toolset !== "session_search" || sessionIndex !== undefined)
    .filter((tool) => tool.toolset !== "cronjob" || cron !== undefined)
    .filter((tool) => tool.toolset !== "memory" || memory !== false)
    .filter((tool) => tool.toolset !== "skills" || skills !== false)
    .filter((tool) => tool.toolset !== "browser" || (browser?.executable ?? findBrowser()) !== undefined)
    .filter((tool) => tool.toolset !== "editor" || host?.editor !== undefined)
    .filter((tool) => tool.name !== "web_search" || web?.search !== undefined)
    .filter((tool) => tool.toolset !== "code_execution" || runsScripts(host));
}

/** Scripts reach the agent through a Unix socket of this machine. */
function runsScripts(host: AIAgentOptions["host"]): boolean {
  return process.platform !== "win32" && host?.terminals.place === undefined;
}

/** Limits of the schemas in a request: as tokens, and as a share of the model's window. */
const MAX_TOKENS = 4_000;
const MAX_SHARE = 0.05;
/** Window from which a request has the schemas of common tools. Tokens. */
const ROOMY_WINDOW = 32_000;
/** Smaller schemas stay in the request: the three tools that replace them have this size. Characters. */
const MIN_DEFERRED_CHARS = 1_200;
/** Length of the directory, which is in each request. Characters. */
const directoryChars = (window: number): number => (window < ROOMY_WINDOW ? 300 : 2_000);

/** True when the schemas of these tools are too large for a request. `window`: tokens of the model's context. */
export function exceedsRequest(tools: readonly Tool[], window: number): boolean {
  return textTokens(schemaChars(tools)) > Math.min(MAX_TOKENS, window * MAX_SHARE);
}

function schemaChars(tools: readonly Tool[]): number {
  return tools.reduce((sum, { schema }) => sum + JSON.stringify(schema).length, 0);
}

/** The tools that the request has in place of `deferred`, with a directory of about `chars` characters. */
export function directoryTools(deferred: readonly Tool[], chars: number): readonly Tool[] {
  return [searchTool(deferred, chars), describeTool(deferred), callTool];
}

/** Results of one query, and of a whole search. */
const RESULTS_PER_QUERY = 8;
const MAX_RESULTS = 20;
/** Length of a description among search results. Characters. */
const DESCRIPTION_CHARS = 200;

function searchTool(deferred: readonly Tool[], chars: number): Tool {
  return defineTool({
    name: "tool_search",
    toolset: "tool_search",
    kind: "search",
    readOnly: true,
    description: `Find more tools by name or purpose, to run with tool_call:\n${directory(deferred, chars)}`,
    input: z.object({ queries: z.array(z.string().min(1)).min(1).describe("Keywords, one query a tool") }),
    title: ({ queries }) => `Search tools: ${queries.join(", ")}`.slice(0, 80),
    effect: () => ({ kind: "none" }),
    run: async ({ queries }) => ({ ok: true, text: searchTools(queries, deferred) }),
  });
}

/** Tools that match, the best first, one line each with their parameters. */
function searchTools(queries: readonly string[], tools: readonly Tool[]): string {
  const items = tools.map((tool) => {
    const keys = parametersOf(tool.schema.parameters).map(({ key }) => key);
    return { tool, name: spaced(tool.name), text: spaced(`${tool.name} ${tool.schema.description} ${keys.join(" ")}`) };
  });
  const find = (query: string): readonly Tool[] => {
    const found = [...items.filter(({ tool }) => tool.name === query), ...ranked(spaced(query), items)];
    return [...new Set(found.map(({ tool }) => tool))].slice(0, RESULTS_PER_QUERY);
  };
  const results = [...new Set(queries.flatMap(find))].slice(0, MAX_RESULTS);
  if (results.length === 0) return `No tool matches ${queries.map((query) => JSON.stringify(query)).join(", ")}.`;
  const lines = results.map(({ name, schema }) => {
    const parameters = parametersOf(schema.parameters).map(({ key, isRequired }) => (isRequired ? key : `${key}?`));
    return `- ${name}(${parameters.join(", ")}): ${oneLine(schema.description, DESCRIPTION_CHARS)}`;
  });
  return `${lines.join("\n")}\n\ntool_describe gives the types of the parameters.`;
}

type Parameter = { readonly key: string; readonly isRequired: boolean };

const objectSchema = z.object({
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
});

function parametersOf(schema: unknown): readonly Parameter[] {
  const parsed = objectSchema.safeParse(schema).data;
  return Object.keys(parsed?.properties ?? {}).map((key) => ({
    key,
    isRequired: parsed?.required.includes(key) ?? false,
  }));
}

/** Words of a name apart: `createIssues` and `create_issue` match. */
function spaced(text: string): string {
  return text.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").replaceAll(/[_-]+/g, " ");
}

function describeTool(deferred: readonly Tool[]): Tool {
  return defineTool({
    name: "tool_describe",
    toolset: "tool_search",
    kind: "read",
    readOnly: true,
    description: "Get the schemas of tools that tool_search found.",
    input: z.object({ names: z.array(z.string().min(1)).min(1) }),
    title: ({ names }) => `Describe ${names.join(", ")}`.slice(0, 80),
    effect: () => ({ kind: "none" }),
    run: async ({ names }) => {
      const texts = names.map((name) => {
        const tool = deferred.find((candidate) => candidate.name === name);
        return tool === undefined ? unknownToolText(name, deferred) : JSON.stringify(tool.schema);
      });
      return { ok: true, text: texts.join("\n\n") };
    },
  });
}

const callInput = z.object({
  name: z.string().min(1),
  arguments: z.union([z.record(z.string(), z.unknown()), z.string()]).optional(),
});

/** Never runs: `resolveCall` replaces each call of it by a call of the named tool. */
const callTool: Tool = {
  ...defineTool({
    name: "tool_call",
    toolset: "tool_search",
    kind: "other",
    readOnly: false,
    description: "Run a tool that tool_search found.",
    input: callInput,
    title: ({ name }) => name,
    effect: () => ({ kind: "none" }),
    run: async ({ name }) => ({ ok: false, text: unknownToolText(name, []) }),
  }),
  forward(raw) {
    const parsed = callInput.safeParse(raw);
    if (!parsed.success) return { ok: false, text: `tool_call: give \`name\` and \`arguments\`, an object.` };
    const { name, arguments: input = {} } = parsed.data;
    return { ok: true, name, input };
  },
};

/** One line for each server or plugin: as many names as fit, and the number of the others. */
function directory(tools: readonly Tool[], chars: number): string {
  const groups = [...Map.groupBy(tools, ({ toolset }) => toolset)];
  const share = chars / groups.length;
  const lines = groups.map(([toolset, members]) => {
    const shared = sharedPrefix(members, toolset);
    const prefix = shared || (members.length === 1 ? "" : `${toolset}: `);
    const names = members.map(({ name }) => name.slice(shared.length));
    let length = prefix.length;
    const fitting = names.filter((name) => {
      length += name.length + 2;
      return length <= share;
    });
    const others = names.length - fitting.length;
    if (fitting.length === 0) return `${prefix || toolset} (${others})`;
    return `${prefix}${fitting.join(", ")}${others > 0 ? `, … ${others} more` : ""}`;
  });
  let length = 0;
  const fitting = lines.filter((line) => {
    length += line.length + 1;
    return length <= chars * 1.5;
  });
  const others = lines.length - fitting.length;
  return [...fitting, ...(others > 0 ? [`… ${others} more toolsets`] : [])].join("\n");
}

/** Longest start of all names that ends with a double underscore, or the name of the toolset; else empty. */
function sharedPrefix(tools: readonly Tool[], toolset: string): string {
  const [first = ""] = tools.map(({ name }) => name);
  for (let end = first.lastIndexOf("__"); end > 0; end = first.lastIndexOf("__", end - 1)) {
    const prefix = first.slice(0, end + 2);
    if (tools.every(({ name }) => name.startsWith(prefix))) return prefix;
  }
  return tools.every(({ name }) => name.startsWith(`${toolset}_`)) ? `${toolset}_` : "";
}
