/** Names near a wrong one, so that the next call of the model can be right. */
import { basename, dirname, join } from "node:path";
import type { Host } from "../host/host.ts";
import { shownPath } from "./resolve-path.ts";
import type { Tool } from "./tool.ts";

/** The `count` candidates nearest to `name` by edit distance, nearest first, in upper or lower case. */
export function nearestNames(name: string, candidates: readonly string[], count = 5): readonly string[] {
  const wanted = name.toLowerCase();
  return candidates
    .map((candidate) => ({ candidate, distance: distanceBetween(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(wanted.length, candidate.length) * 0.6)
    .sort((first, second) => first.distance - second.distance)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** Levenshtein distance, one row at a time. */
function distanceBetween(first: string, second: string): number {
  let previous = Array.from({ length: second.length + 1 }, (_, index) => index);
  for (let row = 1; row <= first.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= second.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (first[row - 1] === second[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[second.length] ?? 0;
}

/** Sentence to add to "does not exist": names near the file; empty when there are none. */
export async function nearFiles(path: string, cwd: string, { files }: Host): Promise<string> {
  let folder = dirname(path);
  let wanted = basename(path);
  while ((await files.stat(folder)) === undefined && folder !== dirname(folder)) {
    wanted = basename(folder);
    folder = dirname(folder);
  }
  const near = nearestNames(wanted, await files.list(folder));
  if (near.length === 0) return "";
  return ` Similar names: ${near.map((name) => shownPath(join(folder, name), cwd)).join(", ")}.`;
}

/** Users with many servers have hundreds of tools. */
const LISTED_TOOLS = 30;

/** Answer to a call of a tool that does not exist. */
export function unknownToolText(name: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.name);
  const near = nearestNames(name, names, 3);
  const others = names.length > LISTED_TOOLS ? ` and ${names.length - LISTED_TOOLS} more` : "";
  const listed = `The tools are ${names.slice(0, LISTED_TOOLS).join(", ")}${others}.`;
  const hint = near.length > 0 ? `Did you mean ${near.join(", ")}?` : listed;
  return `There is no tool ${JSON.stringify(name)}. ${hint}`;
}
