/** Scope of a verdict: its folders, and the location of a path among them. */
import { tmpdir } from "node:os";
import { sep } from "node:path";
import type { Node } from "@vscode/tree-sitter-wasm";
import type { ShellLanguage } from "../host/terminals/terminals.ts";
import { pathBelow, pathRules } from "../platform/paths.ts";

/** Gives the syntax tree of a line, or undefined for one that takes too long to read. */
export type PowerShellParser = (line: string) => Node | undefined;

/** Folders that a command or an edit is judged by. */
export type CommandScope = {
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly home: string;
  readonly hermesHome: string;
  readonly language?: ShellLanguage;
  /** Reads lines of PowerShell. Without it, each asks. */
  readonly powerShell?: PowerShellParser;
  /** Variables that earlier commands exported, where they differ from the environment of this process. */
  readonly variables?: ReadonlyMap<string, string>;
  /** The path that the system would reach: symbolic links of the deepest existing parent followed. */
  readonly resolvePath: (path: string) => string;
};

/** Location of a path: in a workspace folder, in the system's temp folder, in the home, or outside of them. */
export type Place = {
  readonly kind: "workspace" | "temp" | "home" | "outside";
  /** The location's folder, resolved; the file system's root when outside. */
  readonly base: string;
  /** Path below `base`, its parts; empty for the folder itself. */
  readonly below: readonly string[];
};

type Base = { readonly kind: Place["kind"]; readonly path: string };

const resolved = new WeakMap<CommandScope, readonly Base[]>();

/** Location of a resolved path. The innermost folder wins: a workspace in the home is `workspace`. */
export function placeOf(realPath: string, scope: CommandScope): Place {
  let best: Place = { kind: "outside", base: sep, below: partsOf(realPath, realPath) };
  let length = -1;
  for (const base of basesOf(scope)) {
    const below = partsBelow(base.path, realPath);
    if (below === undefined || base.path.length <= length) continue;
    best = { kind: base.kind, base: base.path, below };
    length = base.path.length;
  }
  return best;
}

export function homeOf(scope: CommandScope): string {
  return basesOf(scope).find(({ kind }) => kind === "home")?.path ?? scope.home;
}

/** Parts of `path` below `folder`, both resolved; undefined when `path` is not below it. */
export function partsBelow(folder: string, path: string): readonly string[] | undefined {
  if (isPlain(folder) && isPlain(path)) {
    const start = folder.endsWith("/") ? folder : `${folder}/`;
    if (path.startsWith(start)) return partsOf(path.slice(start.length), folder);
    return path === folder ? [] : undefined;
  }
  const rest = pathBelow(folder, path);
  return rest === undefined ? undefined : partsOf(rest, folder);
}

function isPlain(path: string): boolean {
  return sep === "/" && path.startsWith("/") && !/\/(?:\/|\.{1,2}(?:\/|$))/.test(path);
}

/** `like`: an absolute path of the same system. */
function partsOf(path: string, like: string): readonly string[] {
  return path.split(pathRules(like).sep).filter((part) => part !== "");
}

function basesOf(scope: CommandScope): readonly Base[] {
  const known = resolved.get(scope);
  if (known) return known;
  // Workspace folders come first: of two locations with the same folder, the first one wins.
  const bases: Base[] = scope.roots.map((root) => ({ kind: "workspace", path: scope.resolvePath(root) }));
  bases.push({ kind: "home", path: scope.resolvePath(scope.home) });
  const temps = sep === "/" ? [tmpdir(), "/tmp"] : [tmpdir()];
  for (const temp of new Set(temps)) bases.push({ kind: "temp", path: scope.resolvePath(temp) });
  resolved.set(scope, bases);
  return bases;
}
