/** Names near a wrong one, so that the next call of the model can be right. */
import { basename, dirname, join } from "node:path";
import type { Host } from "../host/host.ts";
import { counterpart, nearestNames } from "../platform/names.ts";
import { shownPath } from "./shown-path.ts";
import type { Tool } from "./tool.ts";

/** Sentence to add to "does not exist": names near the file, hidden ones only for a hidden one; empty when there are none. */
export async function nearFiles(path: string, cwd: string, { files }: Host): Promise<string> {
  let folder = dirname(path);
  let wanted = basename(path);
  while ((await files.stat(folder)) === undefined && folder !== dirname(folder)) {
    wanted = basename(folder);
    folder = dirname(folder);
  }
  const names = (await files.list(folder)).filter((name) => name[0] !== "." || wanted[0] === ".");
  const near = nearestNames(wanted, names);
  if (near.length === 0) return "";
  return ` Similar names: ${near.map((name) => shownPath(join(folder, name), cwd)).join(", ")}.`;
}

/** Users with many servers have hundreds of tools. */
const LISTED_TOOLS = 30;

/** Answer to a call of a tool that does not exist. */
export function unknownToolText(name: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.name);
  const known = counterpart(name, tools);
  const near = known === undefined ? nearestNames(name, names, 3) : [known.name];
  const others = names.length > LISTED_TOOLS ? ` and ${names.length - LISTED_TOOLS} more` : "";
  const listed = `The tools are ${names.slice(0, LISTED_TOOLS).join(", ")}${others}.`;
  const hint = near.length > 0 ? `Did you mean ${near.join(", ")}?` : listed;
  return `There is no tool ${JSON.stringify(name)}. ${hint}`;
}
