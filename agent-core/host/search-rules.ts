/**
 * Limits, name patterns and ignored files of both search engines. Globs have `*`, `**`, `?`, `[a-z]`, `{a,b}` and
 * letters of either case.
 */
import { basename, join, relative, sep } from "node:path";
import type { Ignore } from "ignore";
import ignore from "ignore";

/** Hits of one search at most, context lines included. */
export const MAX_HITS = 10_000;
/** Larger files are not searched for content. Bytes. */
export const MAX_SEARCHED_BYTES = 10_000_000;
/** Lines are cut in hits after this length; the built-in engine skips longer ones. Characters. */
export const MAX_LINE_CHARS = 10_000;

const SPECIAL = /[.+^$()|\\]/;

/**
 * Test of an absolute path in `root` for a search by name. A pattern with glob characters is a glob, for the file name or
 * for the path in `root` if it has a slash; any other pattern is part of the path.
 */
export function nameMatcher(pattern: string, root: string): (path: string) => boolean {
  const inRoot = (path: string): string => relative(root, path).split(sep).join("/") || basename(path);
  if (/[*?[{]/.test(pattern)) {
    const glob = globPattern(pattern);
    return (path) => glob.test(pattern.includes("/") ? inRoot(path) : basename(path));
  }
  const wanted = pattern.toLowerCase();
  return (path) => inRoot(path).toLowerCase().includes(wanted);
}

/** Glob for programs that distinguish upper and lower case: `*.ts` becomes `*.[tT][sS]`. */
export function anyCaseGlob(glob: string): string {
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
