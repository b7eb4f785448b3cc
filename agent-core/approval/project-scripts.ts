/** Scripts of a project that a command runs by name: package scripts, makefile recipes, shell scripts. */
import { createHash } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as z from "zod";

/** Longest script that is read (bytes): a verdict takes a millisecond, and people keep scripts short. */
const MAX_SCRIPT = 65_536;

/** Text of a file; undefined when it is missing, unreadable, binary or too long. */
export function readScript(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK); // a pipe without a writer must not block
    if (!fstatSync(file).isFile()) return undefined;
    const buffer = Buffer.alloc(MAX_SCRIPT + 1);
    const length = readSync(file, buffer, 0, buffer.length, 0);
    const text = buffer.toString("utf8", 0, length);
    return length > MAX_SCRIPT || text.includes("\0") ? undefined : text;
  } catch {
    return undefined; // missing, a folder, or not readable: nothing is known about it
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** True for the name of a file that no program runs. */
export function isData(path: string): boolean {
  return /\.(?:md|mdx|txt|rst|adoc|css|scss|less|svg|png|jpe?g|gif|csv|tsv|log|lock|html?|po|snap)$/i.test(path);
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

const manifestSchema = z.object({ scripts: z.record(z.string(), z.string()).default({}) });

export type PackageScript = {
  /** Folder of the package, in which its scripts run. */
  readonly folder: string;
  /** Code of the script with its pre and post scripts. */
  readonly before: string;
  readonly code: string;
  readonly after: string;
};

/** Script of the nearest package at or above `cwd`; undefined when the package has none of that name. */
export function packageScript(name: string, cwd: string): PackageScript | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const path = join(folder, "package.json");
    if (existsSync(path)) return scriptOf(readScript(path) ?? "", name, folder);
    if (dirname(folder) === folder) return undefined;
  }
}

function scriptOf(text: string, name: string, folder: string): PackageScript | undefined {
  let scripts: Readonly<Record<string, string>>;
  try {
    scripts = manifestSchema.parse(JSON.parse(text)).scripts;
  } catch {
    return undefined; // too long to be read, or a broken manifest, which the package manager refuses, too
  }
  const code = scripts[name];
  if (code === undefined) return undefined;
  return { folder, before: scripts[`pre${name}`] ?? "", code, after: scripts[`post${name}`] ?? "" };
}

/** True for the command line of Hermes, in its extension or its npm package. `path`: absolute, without links. */
export function isOwnProgram(path: string): boolean {
  if (!/^(?:cli|acp)\.js$/.test(basename(path))) return false;
  const manifest = readScript(join(dirname(dirname(path)), "package.json")) ?? "";
  return /"name"\s*:\s*"(?:hermes-vscode|@hermes-agent\/hermes-acp)"/.test(manifest);
}

const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];

/** Path of the makefile in `folder`; undefined without one. */
export function makefileIn(folder: string): string | undefined {
  return MAKEFILES.map((name) => join(folder, name)).find(existsSync);
}

/**
 * Constructs whose effect the recipes do not show: other files, computed rules, another shell, another first target or
 * start of a recipe line, values that a shell computes with brackets of its own.
 */
const OPAQUE_MAKE =
  /^[ \t]*(?:-?include|sinclude|load|define|override|export +SHELL|undefine|vpath)\b|\$[({](?:eval|call|guile|file|foreach|let|value|origin)\b|\$[({]shell\s(?![^(){}]*[)}])|^[^\t#]*(?:\bSHELL|\.SHELLFLAGS|\.ONESHELL|\.RECIPEPREFIX|\.DEFAULT_GOAL|\bMAKEFLAGS)\b|^[^\t#:]*!=|^%|^[^\t#=]*%[^=]*:/m;
const RULE = /^([^\s#:=][^#:=]*?)\s*::?(?!=)([^=;]*)(?:;(.*))?$/;
const ASSIGNMENT = /^(?:export\s+)?([\w.-]+)\s*(?:\?|:{1,3}|\+)?=\s*(.*)$/;
/** Values that grow by reference are as good as unknown. */
const MAX_VALUE = 8192;

type MakeRule = { readonly needs: string[]; readonly lines: string[] };

/**
 * Shell code that `make` runs for the targets, with `$(shell …)` of the whole file; the first target when `targets` is
 * empty. Undefined when the makefile has a construct that is not read.
 */
export function recipesOf(makefile: string, targets: readonly string[]): string | undefined {
  const text = makefile.replace(/\\\r?\n[ \t]*/g, " ");
  if (OPAQUE_MAKE.test(text)) return undefined;
  const variables = new Map<string, string>();
  const rules = new Map<string, MakeRule>();
  let current: readonly MakeRule[] = [];
  for (const line of text.split(/\r?\n/)) {
    // Without a rule above it, a line with a tab is no recipe.
    if (line.startsWith("\t") && current.length > 0) for (const rule of current) rule.lines.push(line.slice(1));
    else current = readLine(line.trimStart(), variables, rules) ?? current;
  }
  const first = [...rules.keys()].find((name) => !name.startsWith("."));
  // A word without a rule may be the value of an option: the first target then runs.
  const isNamed = targets.length > 0 && targets.every((target) => rules.has(target));
  const wanted = isNamed || first === undefined ? targets : [...targets, first];
  const lines = wanted.flatMap((target) => linesFor(target, rules, new Set()));
  const shells = [...text.matchAll(/\$[({]shell\s+([^(){}]*)[)}]/g)].map(([, code]) => code ?? "");
  // Each line of a recipe runs in a shell of its own.
  const code = [...shells, ...lines].map((line) => `(\n${expanded(line.replace(/^[@+-]+/, ""), variables)}\n)`);
  return code.length === 0 ? undefined : code.join("\n");
}

/** Reads an assignment or the head of a rule; gives the rules that the next recipe lines belong to. */
function readLine(
  line: string,
  variables: Map<string, string>,
  rules: Map<string, MakeRule>,
): readonly MakeRule[] | undefined {
  const [, name, value] = ASSIGNMENT.exec(line) ?? [];
  if (name !== undefined && value !== undefined) {
    // Either assignment may hold: a second value makes the variable unknown.
    variables.set(name, variables.has(name) ? "$hermes_unknown" : value.replace(/\s#.*$/, "").trim());
    return [];
  }
  const [, names, needs = "", recipe] = RULE.exec(line) ?? [];
  if (names === undefined) return undefined;
  return names.split(/\s+/).map((target) => {
    const rule = rules.get(target) ?? { needs: [], lines: [] };
    rules.set(target, rule);
    rule.needs.push(...needs.replace(/#.*/, "").split(/[\s|]+/));
    if (recipe !== undefined) rule.lines.push(recipe);
    return rule;
  });
}

function linesFor(target: string, rules: ReadonlyMap<string, MakeRule>, seen: Set<string>): readonly string[] {
  const rule = rules.get(target);
  if (!rule || seen.has(target)) return [];
  seen.add(target);
  return [...rule.needs.flatMap((need) => linesFor(need, rules, seen)), ...rule.lines];
}

/** Expands the variables of make; what it computes becomes an unknown variable of the shell. */
function expanded(line: string, variables: ReadonlyMap<string, string>, depth = 0): string {
  return line.replace(/\$(?:\$|[({]([^(){}$]*)[)}]|([^\s(){}]))/g, (whole, long?: string, short?: string) => {
    if (whole === "$$") return "$";
    const value = variables.get(long ?? short ?? "");
    if (value === undefined || depth > 8 || line.length > MAX_VALUE) return '"$hermes_unknown"';
    return expanded(value, variables, depth + 1);
  });
}

const EXPORTED = /^(?:declare -x|export) ([A-Za-z_]\w*)="((?:[^"\\]|\\[\s\S])*)"$/gm;
/** Variables that one command can see changed; a session that exports more is judged without the rest. */
const MAX_EXPORTED = 60;

/** Variables in a file of `export -p`, where they differ from the environment of this process. */
export function exportedVariables(path: string): ReadonlyMap<string, string> {
  const found = [...(readScript(path) ?? "").matchAll(EXPORTED)].map(([, name = "", value = ""]): [string, string] => [
    name,
    value.replace(/\\(["\\$`])/g, "$1"),
  ]);
  return new Map(found.filter(([name, value]) => process.env[name] !== value && name !== "PWD").slice(0, MAX_EXPORTED));
}
