/** Which of the known places a path lies in: a workspace folder, the system's temp folder, the home, or elsewhere. */
import { tmpdir } from "node:os";
import { isAbsolute, relative, sep } from "node:path";
import type { CommandScope } from "./scope.ts";

export type Place = {
  readonly kind: "workspace" | "temp" | "home" | "outside";
  /** The place's folder, resolved; the file system's root when outside. */
  readonly base: string;
  /** Path below `base`, its parts; empty for the folder itself. */
  readonly below: readonly string[];
};

type Base = { readonly kind: Place["kind"]; readonly path: string };

const resolved = new WeakMap<CommandScope, readonly Base[]>();

/** The place of a path that was resolved already. The most specific place wins: a workspace in the home is workspace. */
export function placeOf(realPath: string, scope: CommandScope): Place {
  let best: Place = { kind: "outside", base: sep, below: partsOf(realPath) };
  let length = -1;
  for (const base of basesOf(scope)) {
    const below = partsBelow(base.path, realPath);
    if (below === undefined || base.path.length <= length) continue;
    best = { kind: base.kind, base: base.path, below };
    length = base.path.length;
  }
  return best;
}

/** The home folder, resolved. */
export function homeOf(scope: CommandScope): string {
  return basesOf(scope).find(({ kind }) => kind === "home")?.path ?? scope.home;
}

/** Parts of `path` below `folder`, both resolved; undefined when it lies elsewhere. */
export function partsBelow(folder: string, path: string): readonly string[] | undefined {
  if (isPlain(folder) && isPlain(path)) {
    const start = folder.endsWith("/") ? folder : `${folder}/`;
    if (path.startsWith(start)) return partsOf(path.slice(start.length));
    return path === folder ? [] : undefined;
  }
  const rest = relative(folder, path);
  if (rest === "") return [];
  if (rest === ".." || rest.startsWith(`..${sep}`) || isAbsolute(rest)) return undefined;
  return partsOf(rest);
}

/** An absolute POSIX path without anything that would have to be normalised; comparing such paths is cheap. */
function isPlain(path: string): boolean {
  return sep === "/" && path.startsWith("/") && !/\/(?:\/|\.{1,2}(?:\/|$))/.test(path);
}

function partsOf(path: string): readonly string[] {
  return path.split(sep).filter((part) => part !== "");
}

function basesOf(scope: CommandScope): readonly Base[] {
  const known = resolved.get(scope);
  if (known) return known;
  // Workspace folders come first: of two places with the same folder, the first one counts.
  const bases: Base[] = scope.roots.map((root) => ({ kind: "workspace", path: scope.resolvePath(root) }));
  bases.push({ kind: "home", path: scope.resolvePath(scope.home) });
  const temps = sep === "/" ? [tmpdir(), "/tmp"] : [tmpdir()];
  for (const temp of new Set(temps)) bases.push({ kind: "temp", path: scope.resolvePath(temp) });
  resolved.set(scope, bases);
  return bases;
}
