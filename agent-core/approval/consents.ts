/**
 * Consents of the user to run what a workspace brings along: servers and hooks. A consent holds for exact content, named by
 * its hash, so changed content needs a new one. They last for all sessions, in a folder of the home.
 */
import { hash } from "node:crypto";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { consentsFolder } from "../config/home.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { pathBelow, resolvePath, statOf } from "../platform/paths.ts";
import { writeFault } from "../sessions/write-fault.ts";
import { readByItself } from "./workspace-file.ts";

/** `mcp`: an MCP server of a workspace. `hook`: a hook of a workspace. */
export type ConsentKind = "mcp" | "hook";

/** Hash of content that needs a consent: the same for objects whose keys are in another order. */
export function contentHash(content: unknown): string {
  return hash("sha256", JSON.stringify(sorted(content)));
}

const SCRIPT = /\.(?:[cm]?[jt]s|sh|bash|zsh|fish|py|rb|pl|php|lua|ps1|bat|cmd)$/i;
const INTERPRETER = /^(?:.*\/)?(?:sh|bash|zsh|dash|fish|source|\.|node|bun|deno|python[\d.]*|ruby|perl|php)$/;
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
    const stat = pathBelow(workspace, path) ? statOf(resolvePath(path)) : undefined;
    if (stat?.isFile() !== true) continue;
    const isScript = SCRIPT.test(word) || (stat.mode & EXECUTABLE) !== 0 || INTERPRETER.test(words[at - 1] ?? "");
    const read = isScript ? readByItself(path, { isOwn: true }) : undefined;
    if (read) scripts[path] = read.ok ? read.text : `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
  }
  return scripts;
}

/** One file for each consent: its name is what it holds for, and its text the content in one line, for people. */
export class Consents {
  readonly #folder: string;
  readonly #onDefect: (message: string) => void;
  /** Consents that were given or revoked where the disk does not show it. */
  readonly #unsaved = new Map<string, boolean>();

  /** `home`: Hermes' home folder. `onDefect` gets one line when a consent cannot be written. */
  constructor(home: string, onDefect: (message: string) => void) {
    this.#folder = consentsFolder(home);
    this.#onDefect = onDefect;
  }

  /** Consents that another process gives or revokes count at once. */
  isAllowed(kind: ConsentKind, hash: string): boolean {
    const path = this.#pathOf(kind, hash);
    return this.#unsaved.get(path) ?? existsSync(path);
  }

  /** `description`: the content in one line. */
  allow(kind: ConsentKind, hash: string, description: string): void {
    this.#change(this.#pathOf(kind, hash), true, (path) => {
      makeFolder(this.#folder, 0o700);
      writeFileSync(path, `${description}\n`, { mode: 0o600 });
    });
  }

  revoke(kind: ConsentKind, hash: string): boolean {
    const isKnown = this.isAllowed(kind, hash);
    if (isKnown) this.#change(this.#pathOf(kind, hash), false, (path) => rmSync(path, { force: true }));
    return isKnown;
  }

  #pathOf(kind: ConsentKind, hash: string): string {
    return join(this.#folder, `${kind}-${hash}`);
  }

  #change(path: string, isAllowed: boolean, write: (path: string) => void): void {
    this.#unsaved.delete(path);
    try {
      write(path);
    } catch (error) {
      this.#unsaved.set(path, isAllowed);
      this.#onDefect(
        `${path} cannot be changed, so the change of a consent ends with this process: ${writeFault(error)}`,
      );
    }
  }
}

/** The same value with the keys of all objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([first], [second]) => (first < second ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
