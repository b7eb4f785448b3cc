/** Names of a parameter as models write them: in other spellings, with other words, and as the tools of other agents have them. */

type Fields = Readonly<Record<string, unknown>>;

/**
 * Other names of one parameter, as the tools of other agents have them: Claude Code, Codex, Cline, Gemini CLI, Copilot.
 * Names that share a word, or abbreviate it, need no row.
 */
const SYNONYMS: readonly (readonly string[])[] = [
  ["path", "file", "filename", "uri", "target", "target_file", "folder", "directory", "dir"],
  ["content", "text", "code", "body", "data", "new_content"],
  ["command", "script", "code", "shell", "input"],
  ["pattern", "query", "regex", "search", "expression"],
  ["query", "q", "search", "question", "input"],
  ["question", "prompt", "message", "query", "text"],
  ["old_string", "search", "find", "original", "before"],
  ["new_string", "replace", "replacement", "updated", "after"],
  ["workdir", "cwd", "directory", "folder", "dir_path", "working_directory"],
  ["url", "uri", "link", "href"],
  ["uri", "url", "link"],
  ["limit", "max_results", "count", "num_results", "head_limit"],
  ["offset", "start", "start_line", "skip"],
  ["file_glob", "glob", "include", "include_pattern", "file_pattern"],
  ["background", "run_in_background", "is_background"],
  ["data", "input", "text", "chars", "keys"],
];

/** Fields under the names that the schema has. The first ones take precedence; a name that is there is kept. */
export function renamed(
  value: Fields,
  known: readonly string[],
  likenesses = [isSameName, sharesWord, isSynonym],
): Fields {
  const names = new Map(Object.keys(value).map((name) => [name, name]));
  const wanted = known.filter((name) => !names.has(name));
  for (const likeness of likenesses) {
    for (const name of wanted) {
      const taken = [...names.values()].includes(name);
      const alike = [...names].filter(([written, now]) => written === now && !known.includes(written));
      // `include_pattern` shares a word with `pattern`, and is another tool's `file_glob`.
      const isOthers = (written: string) =>
        wordsOf(written).length > 1 && known.some((other) => other !== name && isSynonym(written, other));
      const isMeant = (written: string) => likeness(written, name) && (likeness !== sharesWord || !isOthers(written));
      const [match, second] = alike.filter(([written]) => isMeant(written));
      if (!taken && match !== undefined && second === undefined) names.set(match[0], name);
    }
  }
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [names.get(name) ?? name, field]));
}

/** `filePath` → `filepath`. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

export function isSameName(written: string, name: string): boolean {
  return plainName(written) === plainName(name);
}

function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
}

/** True when all words of one name are in the other: `file_path` and `path`, `old_str` and `old_string`. */
function sharesWord(written: string, name: string): boolean {
  const [fewer, more] = [wordsOf(written), wordsOf(name)].toSorted((first, second) => first.length - second.length);
  return fewer?.every((word) => more?.some((other) => abbreviates(word, other) || abbreviates(other, word))) ?? false;
}

/** `cmd` for `command`, `str` for `string`, `path` in `filepath`. */
function abbreviates(short: string, long: string): boolean {
  if (short === long) return true;
  if (short.length < 3 || short.length >= long.length) return false;
  if (long.endsWith(short)) return true;
  const rest = [...long].reduce((left, letter) => (left[0] === letter ? left.slice(1) : left), [...short]);
  return rest.length === 0 && short[0] === long[0];
}

export function isSynonym(written: string, name: string): boolean {
  const rows = SYNONYMS.filter(([first = ""]) => isSameName(name, first));
  return rows.flat().some((other) => isSameName(written, other));
}
