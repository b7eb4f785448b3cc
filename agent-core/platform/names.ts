/** Names for people: near ones for the hint after a wrong one, and distinct ones for folders. */

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
