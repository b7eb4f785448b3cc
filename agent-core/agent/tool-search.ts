/** Search in deferred tools by name and purpose. Loaded with the first search. */
import * as z from "zod";
import { oneLine } from "../platform/one-line.ts";
import type { Tool } from "../tools/tool.ts";

/** Results of one query, and of a whole search. */
const RESULTS_PER_QUERY = 8;
const MAX_RESULTS = 20;
/** Length of a description among search results. Characters. */
const DESCRIPTION_CHARS = 200;
/** Weight of a word in a tool's name; a word in its description counts 1. */
const NAME_WEIGHT = 4;

/** Tools that match, the best first, one line each with their parameters. */
export function searchTools(queries: readonly string[], tools: readonly Tool[]): string {
  const search = new ToolSearch(tools);
  const results = [...new Set(queries.flatMap((query) => search.find(query)))].slice(0, MAX_RESULTS);
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

type Entry = { readonly tool: Tool; readonly name: ReadonlySet<string>; readonly text: ReadonlySet<string> };

/** Search by words. A word that fewer tools have counts more. */
class ToolSearch {
  readonly #tools: readonly Tool[];
  #entries: readonly Entry[] | undefined;

  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
  }

  /** Best first. */
  find(query: string): readonly Tool[] {
    this.#entries ??= this.#tools.map((tool) => ({
      tool,
      name: new Set(words(tool.name)),
      text: new Set(words(`${tool.schema.description} ${parametersOf(tool.schema.parameters).map(({ key }) => key)}`)),
    }));
    const entries = this.#entries;
    const wanted = [...new Set(words(query))].map((word) => {
      const count = entries.filter(({ name, text }) => name.has(word) || text.has(word)).length;
      return { word, weight: Math.log(1 + entries.length / (1 + count)) };
    });
    const scoreOf = ({ tool, name, text }: Entry): number => {
      if (tool.name === query) return Number.POSITIVE_INFINITY;
      return wanted.reduce((sum, { word, weight }) => {
        if (name.has(word)) return sum + weight * NAME_WEIGHT;
        return text.has(word) ? sum + weight : sum;
      }, 0);
    };
    return entries
      .map((entry) => ({ tool: entry.tool, score: scoreOf(entry) }))
      .filter(({ score }) => score > 0)
      .toSorted((first, second) => second.score - first.score)
      .slice(0, RESULTS_PER_QUERY)
      .map(({ tool }) => tool);
  }
}

/** Words in lower case, without the plural's s, so that `createIssues` and `create_issue` match. */
function words(text: string): readonly string[] {
  return (
    text
      .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).map((word) => (word.length > 3 ? word.replace(/s$/, "") : word));
}
