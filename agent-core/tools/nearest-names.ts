/** Names near a wrong one, so that the next call of the model can be right. */
import { basename, dirname, join } from "node:path";
import type { Host } from "../host/host.ts";
import { nearestNames } from "../platform/names.ts";
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

/** Tools by the names that other agents taught the models. By letters, `bash` would be near `patch`. */
const FOREIGN_NAMES: Readonly<Record<string, RegExp>> = {
  terminal: /^(bash|shell|sh|cmd|powershell)\b|command|exec_|^exec$/i,
  search_files: /^(grep|glob|ls|find|list_?(dir|files))/i,
  patch: /str_?replace|apply_?(patch|diff)|^(multi_?)?edit/i,
};

/**
 * The tool that a call names: `functions.read_file:0` and `ReadFile` mean `read_file`. Undefined when the name fits none, or several.
 */
export function toolNamed(name: string, tools: readonly Tool[]): Tool | undefined {
  const letters = (text: string): string => text.replaceAll(/[\s_-]/g, "").toLowerCase();
  const plain = letters(name.replace(/:\d+$/, "").replace(/^.*[.:/]/, ""));
  const meant = tools.filter((tool) => letters(tool.name) === plain);
  return tools.find((tool) => tool.name === name) ?? (meant.length === 1 ? meant[0] : undefined);
}

/** Users with many servers have hundreds of tools. */
const LISTED_TOOLS = 30;

/** Answer to a call of a tool that does not exist. */
export function unknownToolText(name: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.name);
  const known = names.filter((each) => FOREIGN_NAMES[each]?.test(name));
  const near = known.length > 0 ? known : nearestNames(name, names, 3);
  const others = names.length > LISTED_TOOLS ? ` and ${names.length - LISTED_TOOLS} more` : "";
  const listed = `The tools are ${names.slice(0, LISTED_TOOLS).join(", ")}${others}.`;
  const hint = near.length > 0 ? `Did you mean ${near.join(", ")}?` : listed;
  return `There is no tool ${JSON.stringify(name)}. ${hint}`;
}
