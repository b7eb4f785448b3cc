/** What the model is told when it calls a tool that does not exist. */
import { nearestNames } from "./nearest.ts";
import type { Tool } from "./tool.ts";

export function unknownToolText(name: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.name);
  const near = nearestNames(name, names, 3);
  const hint = near.length > 0 ? `Did you mean ${near.join(", ")}?` : `There are: ${names.join(", ")}.`;
  return `There is no tool ${JSON.stringify(name)}. ${hint}`;
}
