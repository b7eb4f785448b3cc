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
