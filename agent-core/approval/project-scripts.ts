/** Scripts of a project that a command runs by name: package scripts and shell scripts. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { attempt } from "../platform/errors.ts";
import { entriesOf } from "../platform/paths.ts";
import { readRegular } from "./workspace-file.ts";

const MAX_SCRIPT = 65_536;

/** Text of a file as a shell reads it; undefined when it is no file, is too long or has a NUL character. */
export function readScript(path: string): string | undefined {
  const read = readRegular(path, { isOwn: true, maxBytes: MAX_SCRIPT });
  const text = read.ok ? read.bytes.toString("utf8") : undefined;
  return text?.includes("\0") ? undefined : text;
}

/** True for the name of a file that no program runs: builds, tests and templates run code in `.txt`, `.snap`, `.css`, `.html`. */
export function isData(path: string): boolean {
  return /\.(?:md|adoc|svg|png|jpe?g|gif|csv|tsv|log|po)$/i.test(path);
}

const manifestSchema = z.object({ scripts: z.record(z.string(), z.string()).default({}) });

export type PackageScript = {
  readonly folder: string;
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
  // The package manager, too, refuses a broken manifest. One that is too long is empty here.
  const scripts = attempt(() => manifestSchema.parse(JSON.parse(text)).scripts);
  const code = scripts?.[name];
  if (scripts === undefined || code === undefined) return undefined;
  return { folder, before: scripts[`pre${name}`] ?? "", code, after: scripts[`post${name}`] ?? "" };
}

const COMPOSE_FILE = /^(?:docker-)?compose[\w.-]*\.ya?ml$/;
const CHOOSES_FILES = /^[^#\n]*COMPOSE_(?:FILE|ENV_FILES|PATH_SEPARATOR)/m;
const COMMENT = /^\s*(?:#.*)?\n|^\s*#.*|(?<=^(?:[^"'#\n]|"[^"\\\n]*"|'[^'\n]*')*)[ \t]#.*/gm;
const NEAR = String.raw`(["']?)(?!\S*\.\.)[\w.][\w./-]*`;
const LISTED = String.raw`\s+(?:-[ \t]+)?(?:(?:path|required|format):[ \t]+)?${NEAR}\1`;
/** Keys that open files, but those of variables beside it, and spellings that may hide one. */
const OPENS_FILES = new RegExp(
  String.raw`(?:^|[\s{,])["']?include["']?\s*:|(?=[\s\S]*\bfile["']?\s*:)(?:^|[\s{,])["']?extends["']?\s*:|\\[xuU]|\*\S+\s+:|^\s*\?\s|_file(?!:(?:(?:${LISTED})+[ \t]*(?:\n[ \t]*(?!path|required|format|x-)["']?[\w.<][\w.<-]*["']?:(?=\s)|(?![\s\S]))|[ \t]*\[(?:\s*${NEAR}\2\s*,?)+\][ \t]*(?:\n|(?![\s\S]))))`,
  "m",
);

/** True when the compose project of `folder` names no file elsewhere, and no address, that is read with it. */
export function isPlainCompose(folder: string): boolean {
  const files = entriesOf(folder).filter(({ name }) => COMPOSE_FILE.test(name));
  const texts = files.map(({ name }) => readScript(join(folder, name)) ?? "include:");
  const opens = texts.some((text) => OPENS_FILES.test(text.replaceAll("\r", "").replace(COMMENT, "")));
  if (opens || CHOOSES_FILES.test(readScript(join(folder, ".env")) ?? "")) return false;
  return files.length > 0 || dirname(folder) === folder || isPlainCompose(dirname(folder));
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
