/** The tools of a session: the built-in ones and those of its extensions. They change only between turns. */
import { table as toolTable } from "../tools/table.gen.ts";
import type { Tool } from "../tools/tool.ts";
import { isToolsetOn, selectTools, type ToolChoice } from "../tools/toolsets.ts";
import type { AIAgentOptions } from "./agent-options.ts";

type CatalogueOptions = Pick<AIAgentOptions, "enabledToolsets" | "disabledToolsets" | "sessionIndex" | "memory">;

export class ToolCatalogue {
  readonly #builtIn: readonly Tool[];
  readonly #further: () => readonly Tool[];
  #tools: readonly Tool[];
  #schemaText: string | undefined;

  /**
   * `further`: the tools of the extensions at the moment. A built-in tool hides one with the same name. Throws an Error in
   * one line for an unknown toolset.
   */
  constructor(options: CatalogueOptions, further: () => readonly Tool[]) {
    const choice = choiceOf(options);
    this.#builtIn = builtInTools(options, choice);
    this.#further = () => further().filter((tool) => isToolsetOn(tool, choice));
    this.#tools = this.#builtIn;
  }

  /** Tools of the current turn. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** The schemas as text, for token estimates. */
  get schemaText(): string {
    this.#schemaText ??= JSON.stringify(this.#tools.map((tool) => tool.schema));
    return this.#schemaText;
  }

  /** Takes the extensions' tools for the turn that begins. */
  beginTurn(): void {
    const names = new Set(this.#builtIn.map(({ name }) => name));
    const further = this.#further().filter(({ name }) => !names.has(name));
    const next = [...this.#builtIn, ...further];
    if (next.length === this.#tools.length && next.every((tool, index) => tool === this.#tools[index])) return;
    this.#tools = next;
    this.#schemaText = undefined;
  }
}

function choiceOf({ enabledToolsets, disabledToolsets }: CatalogueOptions): ToolChoice {
  return {
    ...(enabledToolsets && { enabled: enabledToolsets }),
    ...(disabledToolsets && { disabled: disabledToolsets }),
  };
}

function builtInTools({ sessionIndex, memory }: CatalogueOptions, choice: ToolChoice): readonly Tool[] {
  const chosen = selectTools(toolTable, choice);
  if (!chosen.ok) throw new Error(chosen.message);
  return chosen.tools
    .filter((tool) => tool.toolset !== "session_search" || sessionIndex !== undefined)
    .filter((tool) => tool.toolset !== "memory" || memory !== false);
}
