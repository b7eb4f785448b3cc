/**
 * Consents of the user to run what a workspace brings along: servers and hooks. A consent holds for exact content, named by
 * its hash, so changed content needs a new one. They last for all sessions, in a file of the home folder.
 */
import { createHash } from "node:crypto";
import { consentsFile } from "../config/home.ts";
import { Grants } from "./grants.ts";

/** `mcp`: an MCP server of a workspace. `hook`: a hook of a workspace. */
export type ConsentKind = "mcp" | "hook";

/** Hash of content that needs a consent: the same for objects whose keys are in another order. */
export function contentHash(content: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(content)))
    .digest("hex");
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
