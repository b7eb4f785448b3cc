/**
 * Consents of the user to run what a workspace brings along: servers and hooks. A consent holds for exact content, named by
 * its hash, so changed content needs a new one. They last for all sessions, in a file of the home folder.
 */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { consentsFile } from "../config/home.ts";
import { pathBelow } from "../platform/paths.ts";
import { Grants } from "./grants.ts";
import { readByItself } from "./workspace-file.ts";

/** `mcp`: an MCP server of a workspace. `hook`: a hook of a workspace. */
export type ConsentKind = "mcp" | "hook";

/** Hash of content that needs a consent: the same for objects whose keys are in another order. */
export function contentHash(content: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(content)))
    .digest("hex");
}

const SCRIPT = /\.(?:[cm]?[jt]s|sh|bash|zsh|fish|py|rb|pl|php|lua|ps1|bat|cmd)$/i;
const INTERPRETER = /^(?:.*\/)?(?:sh|bash|zsh|dash|fish|source|\.|node|bun|deno|python[\d.]*|ruby|perl|php)$/;
/** Permission to execute, for anyone. */
const EXECUTABLE = 0o111;

/**
 * Scripts of the workspace among the words of a command that starts in `cwd`, by their absolute paths, with text that changes
 * with them. Other files that it names are data, which may change.
 */
export function namedScripts(
  words: readonly string[],
  cwd: string,
  workspace: string,
): Readonly<Record<string, string>> {
  const scripts: Record<string, string> = {};
  for (const [at, word] of words.entries()) {
    const path = resolve(cwd, word);
    const stat = pathBelow(workspace, path) ? statSync(path, { throwIfNoEntry: false }) : undefined;
    if (stat?.isFile() !== true) continue;
    const isScript = SCRIPT.test(word) || (stat.mode & EXECUTABLE) !== 0 || INTERPRETER.test(words[at - 1] ?? "");
    if (isScript) scripts[path] = textOf(path) ?? `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
  }
  return scripts;
}

function textOf(path: string): string | undefined {
  const read = readByItself(path, { isOwn: true });
  return read.ok ? read.text : undefined;
}

export class Consents {
  readonly #grants: Grants;

  /** `home`: Hermes' home folder. `onDefect` gets one line when the file cannot be read or written. */
  constructor(home: string, onDefect: (message: string) => void) {
    this.#grants = new Grants(consentsFile(home), onDefect);
  }

  /** Consents that another process gives or revokes count at once. */
  isAllowed(kind: ConsentKind, hash: string): boolean {
    return this.#grants.covers(offer(kind, hash, ""));
  }

  /** `description`: the content in one line, for people who read the file. */
  allow(kind: ConsentKind, hash: string, description: string): void {
    this.#grants.keep(offer(kind, hash, description), "always");
  }

  /** False when there is no such consent. */
  revoke(kind: ConsentKind, hash: string): boolean {
    return this.#grants.revoke(idOf(kind, hash));
  }
}

function offer(kind: ConsentKind, hash: string, description: string) {
  return { description, keys: [{ id: idOf(kind, hash), description }] };
}

function idOf(kind: ConsentKind, hash: string): string {
  return `${kind}:${hash}`;
}

/** The same value with the keys of all objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([first], [second]) => (first < second ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
