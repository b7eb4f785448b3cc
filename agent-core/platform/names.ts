/** Names as people and models write them: the tool that one means, near ones for a hint, and distinct ones for folders. */

/**
 * The tool that a model means: `functions.read_file:0` and `ReadFile` mean `read_file`, `files.list` and `list` mean
 * `mcp__files__list`. Undefined when the name fits none, or several.
 */
export function toolNamed<Named extends { readonly name: string }>(
  name: string,
  tools: readonly Named[],
): Named | undefined {
  const letters = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, "").toLowerCase();
  const own = name.replace(/:\d+$/, "").replace(/^(?:functions?|default_api|tools)[.:]/, "");
  const plain = letters(own);
  const last = letters(own.replace(/^.*[.:/]/, ""));
  const isWhole = ({ name: each }: Named): boolean => [plain, last].includes(letters(each));
  const isServers = ({ name: each }: Named): boolean =>
    each.split("__").some((_, at, parts) => at > 0 && letters(parts.slice(at).join("")) === plain);
  const exact = tools.find((tool) => tool.name === own || tool.name === name);
  if (exact !== undefined || plain.length < 3) return exact;
  const found = [isWhole, isServers].map((fits) => tools.filter(fits)).find((meant) => meant.length > 0) ?? [];
  return found.length === 1 ? found[0] : undefined;
}

/** Tools by the names that other agents taught the models. By letters, `bash` would be near `patch`. */
const FOREIGN_NAMES: Readonly<Record<string, RegExp>> = {
  terminal: /^(bash|shell|sh|cmd|powershell)\b|command|exec_|^exec$/i,
  search_files: /^(grep|glob|ls|find|list_?(dir|files))/i,
  patch: /str_?replace|apply_?(patch|diff)|^(multi_?)?edit/i,
  read_file: /^(read|view|cat|open)(_?files?)?$/i,
  write_file: /^(write|create|save)(_?to)?(_?file)?$/i,
};

/** The tool in the place of one of another agent. */
export function counterpart<Named extends { readonly name: string }>(
  name: string,
  tools: readonly Named[],
): Named | undefined {
  return tools.find((tool) => FOREIGN_NAMES[tool.name]?.test(name));
}

/** The `count` candidates nearest to `name` by edit distance, nearest first, in upper or lower case. */
export function nearestNames(name: string, candidates: readonly string[], count = 5): readonly string[] {
  const wanted = name.toLowerCase();
  return candidates
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(wanted.length, candidate.length) * 0.6)
    .sort((first, second) => first.distance - second.distance)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** The candidate that a person probably meant: at most two of five characters differ. */
export function nearName(name: string, candidates: readonly string[]): string | undefined {
  const [near = ""] = nearestNames(name, candidates, 1);
  const distance = editDistance(name.toLowerCase(), near.toLowerCase());
  return distance <= Math.max(name.length, near.length) * 0.4 ? near : undefined;
}

/** Levenshtein distance, calculated row by row. */
export function editDistance(first: string, second: string): number {
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

/** Names of folders: the last part of each path, with as many parts before it as tell folders of the same name apart. */
export function distinctNames(paths: readonly string[]): readonly string[] {
  const all = paths.map((path) => path.split(/[\\/]/).filter((part) => part !== ""));
  return all.map((parts, index) => {
    const isTaken = (name: string, length: number): boolean =>
      all.some((other, at) => at !== index && other.slice(-length).join("/") === name);
    for (let length = 1; length <= parts.length; length += 1) {
      const name = parts.slice(-length).join("/");
      if (!isTaken(name, length)) return name;
    }
    return paths[index] ?? "";
  });
}
