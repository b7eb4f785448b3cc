/**
 * Limits, name patterns and ignored files of both search engines. Globs have `*`, `**`, `?`, `[a-z]`, `{a,b}` and
 * letters of either case.
 */
import { existsSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import type { Ignore } from "ignore";
import ignore from "ignore";

/** Hits of one search at most, context lines included. */
export const MAX_HITS = 10_000;
/** Larger files are not searched for content. Bytes. */
export const MAX_SEARCHED_BYTES = 10_000_000;
/** Longer lines are cut around their first match. Characters. */
const MAX_LINE_CHARS = 10_000;

const SPECIAL = /[.+^$()|\\]/;

type PathTest = (path: string) => boolean;

/** Test of an absolute path in `root` for a search by name: a glob, or else a part of the path. */
export function nameMatcher(pattern: string, root: string): PathTest {
  if (/[*?[{]/.test(pattern)) return globMatcher(pattern, root);
  const wanted = pattern.toLowerCase();
  return (path) => inRoot(path, root).toLowerCase().includes(wanted);
}

/**
 * Test of an absolute path in `root` by a glob: for the file name, or for the path in `root` if it has a slash. A path that
 * exists is meant as it is, and a folder means all files in it. A leading `!` excludes; commas separate alternatives.
 */
export function globMatcher(written: string, root: string): PathTest {
  if (written.startsWith("!")) {
    const isExcluded = globMatcher(written.slice(1), root);
    return (path) => !isExcluded(path);
  }
  const named = resolve(root, written);
  if (written.includes("/") && existsSync(named)) return (path) => path === named || path.startsWith(named + sep);
  const inner = named.startsWith(root + sep) && written.startsWith("/") ? inRoot(named, root) : written;
  const glob = inner.replace(/^\.\//, "");
  const pattern = globPattern(/^[^{}]*,[^{}]*$/.test(glob) ? `{${glob}}` : glob);
  return (path) => pattern.test(glob.includes("/") ? inRoot(path, root) : basename(path));
}

function inRoot(path: string, root: string): string {
  return relative(root, path).split(sep).join("/") || basename(path);
}

/** The line of a hit, cut around the match at `column`. */
export function cutAround(line: string, column: number): { readonly text: string; readonly column: number } {
  const start = line.length <= MAX_LINE_CHARS ? 0 : Math.max(0, column - MAX_LINE_CHARS / 2);
  return { text: line.slice(start, start + MAX_LINE_CHARS).toWellFormed(), column: column - start };
}

/**
 * Glob that selects no fewer files than `globMatcher` does, for programs that distinguish upper and lower case: `*.ts` becomes
 * `*.[tT][sS]`. Undefined when there is none.
 */
export function anyCaseGlob(glob: string): string | undefined {
  if (/^!|\/|^[^{]*,/.test(glob)) return undefined;
  return glob.replace(/\[[^\]]*\]|\p{L}/gu, (part) => {
    const [lower, upper] = [part.toLowerCase(), part.toUpperCase()];
    return part.startsWith("[") || lower === upper ? part : `[${lower}${upper}]`;
  });
}

/** Regular expression for a glob. An unclosed bracket or brace matches itself. */
export function globPattern(glob: string): RegExp {
  try {
    return new RegExp(`^${translate(glob)}$`, "iu");
  } catch {
    return new RegExp(`^${glob.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`, "iu");
  }
}

function translate(glob: string): string {
  let pattern = "";
  for (let index = 0; index < glob.length; index += 1) {
    const rest = glob.slice(index);
    const [matched, replacement] = token(rest);
    pattern += replacement;
    index += matched - 1;
  }
  return pattern;
}

/** Length of the next token in characters, and its regular expression. */
function token(rest: string): readonly [number, string] {
  if (rest.startsWith("**/")) return [3, "(?:.*/)?"];
  if (rest.startsWith("**")) return [2, ".*"];
  const [first = ""] = rest;
  switch (first) {
    case "*":
      return [1, "[^/]*"];
    case "?":
      return [1, "[^/]"];
    case "[": {
      const bracket = /^\[!?[^\]]+\]/.exec(rest)?.[0];
      return bracket === undefined
        ? [1, "\\["]
        : [bracket.length, bracket.replace(/^\[!/, "[^").replaceAll("\\", "\\\\")];
    }
    case "{": {
      const braces = /^\{([^{}]*)\}/.exec(rest);
      if (braces === null) return [1, "\\{"];
      return [braces[0].length, `(?:${(braces[1] ?? "").split(",").map(translate).join("|")})`];
    }
    case "}":
    case "]":
      return [1, `\\${first}`];
    default:
      return [1, SPECIAL.test(first) ? `\\${first}` : first];
  }
}

const IGNORE_FILES = [".gitignore", ".ignore"];

/** Rules of one folder's ignore files. */
export type FolderRules = { readonly folder: string; readonly rules: Ignore };

/** Paths of the ignore files among the names in a folder. */
export function ignoreFilesIn(folder: string, names: readonly string[]): readonly string[] {
  return IGNORE_FILES.filter((name) => names.includes(name)).map((name) => join(folder, name));
}

/** `texts` are the contents of the folder's ignore files. */
export function rulesFrom(folder: string, texts: readonly string[]): FolderRules {
  return { folder, rules: ignore().add(texts.join("\n")) };
}

/** `rules` come from the top folder down; the nearest file with a rule for the path decides. */
export function isIgnored(path: string, isFolder: boolean, rules: readonly FolderRules[]): boolean {
  if (path.endsWith(`${sep}.git`)) return true;
  for (const { folder, rules: own } of rules.toReversed()) {
    const inner = relative(folder, path).split(sep).join("/");
    const { ignored, unignored } = own.test(isFolder ? `${inner}/` : inner);
    if (ignored || unignored) return ignored;
  }
  return false;
}
