/**
 * Limits, name patterns and ignored files of both search engines. Globs have `*`, `**`, `?`, `[a-z]`, `{a,b}` and
 * letters of either case.
 */
import { existsSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import type { Ignore } from "ignore";
import ignore from "ignore";
import { attempt, messageOf } from "../platform/errors.ts";
import { escapePattern } from "../platform/escape-pattern.ts";
import type { SearchRequest } from "./host.ts";

/** Hits of one search at most, context lines included. */
export const MAX_HITS = 10_000;
/** Larger files are not searched for content. Bytes. */
export const MAX_SEARCHED_BYTES = 10_000_000;
/** Longer lines are cut around their first match. Characters. */
const MAX_LINE_CHARS = 10_000;

type PathTest = (path: string) => boolean;

/** Test of an absolute path in `root` for a search by name: a part of the path, a glob, or a regular expression. */
export function nameMatcher(pattern: string, root: string): PathTest {
  const part = innerPath(pattern, root).toLowerCase();
  const glob = globMatcher(pattern, root);
  const regex = REGEX.test(pattern) ? attempt(() => new RegExp(pattern, "i")) : undefined;
  return (path) => {
    const inner = inRoot(path, root);
    return part === "" || inner.toLowerCase().includes(part) || glob(path) || regex?.test(inner) === true;
  };
}

/** Signs of a regular expression in a pattern for names, where a glob is meant to stand. */
const REGEX = /\\[.wd]|\.[*+]|\||\$$|^\^/;

/**
 * Test of an absolute path in `root` by a glob: for the file name, or for the path in `root` if it has a slash. A path or name
 * that exists is meant as it is, and a folder means all files in it. A leading `!` excludes; commas, or blanks between globs,
 * separate alternatives. A word alone is also the name of a folder, or an ending of names.
 */
export function globMatcher(written: string, root: string): PathTest {
  const named = resolve(root, written);
  if (written.includes("/") && existsSync(named)) return (path) => path === named || path.startsWith(named + sep);
  const parts = alternativesIn(written);
  const globs = [...new Set([written, ...parts])].filter((glob) => !/^[!-]/.test(glob));
  const regex = /\\\.[\w(]/.test(written)
    ? attempt(() => new RegExp(`(?:^|/|(?=\\.))(?:${written})$`, "i"))
    : undefined;
  const inner = globs.map((glob) => innerPath(glob, root));
  const wanted = inner.includes(".") || inner.includes("") ? [] : inner.map(oneGlob);
  const excluding = parts.filter((glob) => glob.startsWith("!"));
  const unwanted = excluding.map((glob) => globMatcher(glob.slice(1), root));
  return (path) => {
    const place = inRoot(path, root);
    const isWanted = wanted.length === 0 || wanted.some((matches) => matches(place)) || regex?.test(place) === true;
    return isWanted && !unwanted.some((test) => test(path));
  };
}

function oneGlob(glob: string): (inner: string) => boolean {
  const pattern = globPattern(glob);
  if (glob.includes("/")) return (inner) => pattern.test(inner);
  const isWord = !/[*?]/.test(glob);
  const ending = `.${glob.replace(/^\./, "")}`.toLowerCase();
  return (inner) => {
    const parts = inner.split("/");
    if (pattern.test(parts.at(-1) ?? "")) return true;
    return isWord && (inner.toLowerCase().endsWith(ending) || parts.slice(0, -1).some((part) => pattern.test(part)));
  };
}

/** Option of grep, ripgrep or find before a glob. */
const OPTION = /(?<![^\s,])--?([a-z][a-z-]*)(?:=|\s+|(?=[*"'!]))/g;

/** The globs of a list. Blanks separate only what cannot be a name. */
function alternativesIn(written: string): readonly string[] {
  const listed = written
    .replace(/^\s*\[(?=\s*["'])|(?<=["']\s*)\]\s*$|(?<=\.\w+)\$$/g, "")
    .replaceAll(OPTION, (_, name: string) => (/^(?:exclude|ignore)/.test(name) ? "!" : ""));
  const parts = listed
    .split(/[,;|](?![^{]*\}|[^[]*\]|[^(]*\))/)
    .map((part) => part.trim().replace(/^(["'])(.*)\1$/, "$2"));
  const words = (parts[0] ?? "").split(/\s+/).map((word) => word.replace(/^(!?)(["'])(.*)\2$/, "$1$3"));
  const isList = parts.length === 1 && words.every((word) => /[*?]|^\.\w+$|^!/.test(word));
  return (isList ? words : parts).filter((part) => part !== "");
}

/** A path or glob as it stands below `root`, with slashes, and its letters in one piece. */
function innerPath(written: string, root: string): string {
  const slashed = written.replaceAll(/\\(?=[\w*.])/g, "/");
  const below = slashed.startsWith(`${root}${sep}`) ? slashed.slice(root.length + 1) : slashed;
  return below.replace(/^(?:\.?\/)+/, "").normalize("NFC");
}

function inRoot(path: string, root: string): string {
  return (relative(root, path).split(sep).join("/") || basename(path)).normalize("NFC");
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
  if (!/^\*\.(?:\w+|\{[\w,]+\})$/.test(glob)) return undefined;
  return glob.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
}

/** Regular expression for a glob. Brackets and braces are also the characters that they are, as in `app/[id]/page.tsx`. */
export function globPattern(glob: string): RegExp {
  return attempt(() => new RegExp(`^${translate(glob)}$`, "iu")) ?? new RegExp(`^${escapePattern(glob)}$`, "iu");
}

/** A bracket, braces with inner ones, stars with a slash, or one character. */
const TOKEN = /\*\*\/|\*\*|\[!?[^\]]+\]|\{(?:[^{}]|\{[^{}]*\})*\}|\\?./gsu;

/** Alternatives of bash, such as `@(ts|tsx)`. */
const BASH_CHOICES = /([@+?*]?)\(([^()]*\|[^()]*)\)/g;

function translate(written: string): string {
  const glob = written.replaceAll(BASH_CHOICES, (_, many: string, choices: string) => {
    return `{${choices.replaceAll("|", ",")}${many === "?" || many === "*" ? "," : ""}}`;
  });
  return glob.replaceAll(TOKEN, (token) => {
    if (token === "**/") return "(?:.*/)?";
    if (token === "**") return ".*";
    if (token === "*") return "[^/]*";
    if (token === "?") return "[^/]";
    if (token.length > 2 && token.startsWith("[")) {
      const characters = token.slice(1, -1).replace(/^!/, "^").replaceAll(/[\\[]/g, "\\$&");
      return `(?:[${characters}]|${escapePattern(token)})`;
    }
    if (token.length > 1 && token.startsWith("{")) {
      const choices = token.slice(1, -1).split(/,(?![^{]*\})/);
      return `(?:${choices.map(translate).join("|")}|${escapePattern(token)})`;
    }
    return escapePattern(token.replace(/^\\(?=.)/, ""));
  });
}

/** Classes of POSIX, which ripgrep reads. */
const POSIX = new Map(
  [
    "alnum=a-zA-Z0-9 alpha=a-zA-Z digit=0-9 lower=a-z upper=A-Z xdigit=0-9A-Fa-f word=\\w space=\\s blank=\\x20\\t",
    "cntrl=\\x00-\\x1f\\x7f graph=!-~ print=\\x20-~ punct=!-\\/:-@\\[-`\\{-~",
  ].flatMap((line) =>
    line.split(" ").map((each) => [each.slice(0, each.indexOf("=")), each.slice(each.indexOf("=") + 1)]),
  ),
);

const LINE_END = "(?:\\r?\\n)";
/** Escapes of other dialects, as lines need them. */
const ESCAPES: Record<string, string> = {
  h: "[ \\t]",
  H: "[^ \\t]",
  A: "^",
  Z: "$",
  z: "$",
  K: "",
  G: "",
  n: LINE_END,
  R: LINE_END,
};
/** A class, a quotation, an escape, a line feed, a possessive quantifier, an atomic group, or a comment. */
const PARTS =
  /\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\\Q.*?(?:\\E|$)|\\[pPxu]\{[^}]*\}|\\.|\n|(?:[*+?]|\{\d+(?:,\d*)?\})\+|\(\?>|\(\?#[^)]*\)/gs;

/** A pattern of Perl, Python or Java in the words of both engines: it matches at least the same lines. */
export function commonPattern(pattern: string): string {
  return pattern.replaceAll(PARTS, (part) => {
    if (part.startsWith("[")) return part.replaceAll(/\\./gs, (each) => (each === "\\h" ? " \\t" : each));
    if (part === "\n") return LINE_END;
    if (part.startsWith("\\Q")) return escapePattern(part.slice(2).replace(/\\E$/, ""));
    if (part.startsWith("(?")) return part === "(?>" ? "(?:" : "";
    return part.startsWith("\\") ? (ESCAPES[part.slice(1)] ?? part) : part.slice(0, -1);
  });
}

/** A pattern of ripgrep as JavaScript writes it. */
function translated(pattern: string): string {
  return pattern
    .replaceAll(/\[:(\w+):\]/g, (written, name: string) => POSIX.get(name) ?? written)
    .replaceAll(/\\x(?=\{)/g, "\\u")
    .replaceAll(/\(\?P(?=<\w)/g, "(?")
    .replaceAll(/\(\?P=(\w+)\)/g, "\\k<$1>");
}

/** Regular expression, or the reason why the pattern is not valid. */
export function compile({ pattern, isPlain = false }: SearchRequest): RegExp | string {
  const [, flags = "", rest = ""] = /^(?:\(\?([ims]+)\))?([\s\S]*)$/.exec(pattern) ?? [];
  const source = isPlain ? escapePattern(pattern) : translated(rest);
  const withFlags = `gm${flags.replaceAll("m", "")}`;
  try {
    return new RegExp(source, `${withFlags}u`);
  } catch (error) {
    // Without the stricter Unicode rules `\-` is legal, and an unknown escape would be its letter.
    const unknown = source.match(/\\./gs)?.find((each) => /\\[^\W\dbBcdDfnrsStuvwWx]/.test(each));
    const loose = unknown === undefined ? attempt(() => new RegExp(source, withFlags)) : undefined;
    const plain = source.replaceAll(/\\([^\w\s^$\\.*+?()[\]{}|/])/g, "$1");
    const reason = unknown === undefined || /[kp]/i.test(unknown) ? messageOf(error) : `${unknown} is unknown`;
    const advice = "Write \\( for a bracket and \\\\ for a backslash of the text";
    return (
      loose ??
      attempt(() => new RegExp(plain, `${withFlags}u`)) ??
      `The pattern is not a regular expression: ${reason}. ${advice}.`
    );
  }
}

const IGNORE_FILES = [".gitignore", ".ignore"];

export type FolderRules = { readonly folder: string; readonly rules: Ignore };

/** Paths of the ignore files among the names in a folder. */
export function ignoreFilesIn(folder: string, names: readonly string[]): readonly string[] {
  return IGNORE_FILES.filter((name) => names.includes(name)).map((name) => join(folder, name));
}

/** True for a folder that ignores all of itself, as virtual environments and caches of tools do. Its search by name means it. */
export function ignoresItself(folder: string): boolean {
  const file = join(folder, ".gitignore");
  const lines = existsSync(file) ? (attempt(() => readFileSync(file, "utf8"))?.split(/\s*\n/) ?? []) : [];
  return lines.includes("*") && !lines.some((line) => line.startsWith("!"));
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
