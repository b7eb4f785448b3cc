/**
 * The tools of a session: the built-in ones and those of its extensions. They change only between turns. The schemas
 * of deferrable tools, such as those of servers and plugins, are deferred when they are too large together: see deferred-tools.ts.
 */
import { findBrowser } from "../browser/find-browser.ts";
import { table as toolTable } from "../tools/table.gen.ts";
import type { Tool } from "../tools/tool.ts";
import { isToolsetOn, selectTools, type ToolChoice } from "../tools/toolsets.ts";
import type { AIAgentOptions } from "./agent-options.ts";
import { directoryTools, exceedsRequest } from "./deferred-tools.ts";

type CatalogueOptions = Pick<
  AIAgentOptions,
  | "enabledToolsets"
  | "disabledToolsets"
  | "sessionIndex"
  | "memory"
  | "skills"
  | "browser"
  | "host"
  | "web"
  | "inherited"
  | "cron"
>;

export class ToolCatalogue {
  readonly #builtIn: readonly Tool[];
  readonly #further: () => readonly Tool[];
  /** Tools of the extensions in the current turn. */
  #taken: readonly Tool[] = [];
  /** Window of the current turn's model. */
  #window = 0;
  #isDeferring = false;
  #tools: readonly Tool[];
  #callable: readonly Tool[];
  #schemaText: string | undefined;

  /**
   * `further`: returns the current tools of the extensions. A built-in tool hides one with the same name. Throws an Error in
   * one line for an unknown toolset.
   */
  constructor(options: CatalogueOptions, further: () => readonly Tool[]) {
    const choice = choiceOf(options);
    this.#builtIn = builtInTools(options, choice);
    this.#further = () => further().filter((tool) => isToolsetOn(tool, choice) && isInherited(tool, options));
    this.#tools = this.#builtIn;
    this.#callable = this.#builtIn;
  }

  /** Tools of the current turn whose schemas are in the request. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** All tools of the current turn, those with deferred schemas too. */
  get callable(): readonly Tool[] {
    return this.#callable;
  }

  /** The schemas as text, for token estimates. */
  get schemaText(): string {
    this.#schemaText ??= JSON.stringify(this.#tools.map((tool) => tool.schema));
    return this.#schemaText;
  }

  /** Takes the extensions' tools for the turn that begins. `window`: tokens of the model's context. */
  beginTurn(window: number): void {
    const names = new Set(this.#builtIn.map(({ name }) => name));
    const taken = this.#further().filter(({ name }) => !names.has(name));
    if (window === this.#window && isSame(taken, this.#taken)) return;
    this.#window = window;
    const all = [...this.#builtIn, ...taken];
    const deferrable = all.filter((tool) => tool.deferrable === true);
    const others = all.filter((tool) => tool.deferrable !== true);
    const isDeferring = exceedsRequest(deferrable, window);
    if (isDeferring === this.#isDeferring && isSame(taken, this.#taken)) return;
    this.#taken = taken;
    this.#isDeferring = isDeferring;
    this.#tools = [...others, ...(isDeferring ? directoryTools(deferrable) : deferrable)];
    this.#callable = isDeferring ? [...this.#tools, ...deferrable] : this.#tools;
    this.#schemaText = undefined;
  }
}

function isSame(first: readonly Tool[], second: readonly Tool[]): boolean {
  return first.length === second.length && first.every((tool, index) => tool === second[index]);
}

function choiceOf({ enabledToolsets, disabledToolsets }: CatalogueOptions): ToolChoice {
  return {
    ...(enabledToolsets && { enabled: enabledToolsets }),
    ...(disabledToolsets && { disabled: disabledToolsets }),
  };
}

function isInherited({ name }: Tool, { inherited }: CatalogueOptions): boolean {
  return inherited?.toolNames.has(name) ?? true;
}

function builtInTools(options: CatalogueOptions, choice: ToolChoice): readonly Tool[] {
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
function runsScripts(host: CatalogueOptions["host"]): boolean {
  return process.platform !== "win32" && host?.terminals.place === undefined;
}
