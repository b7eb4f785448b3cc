/** Lasting answers: for this session, or for always in a file of the home folder. */

import { copyFileSync, existsSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod";
import { fileVersion } from "../config/home-file.ts";
import { withLockSync } from "../platform/locks/file-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { readTextSync } from "../platform/text-file.ts";
import { writeFault } from "../sessions/write-fault.ts";

const grantSchema = z.object({ id: z.string(), description: z.string() });
const fileSchema = z.object({ version: z.literal(1), grants: z.array(grantSchema) });

/** One permission. */
export type Grant = {
  /** Exact name, by which grants are compared. */
  readonly id: string;
  /** Scope of the grant, for users. */
  readonly description: string;
};

/** Grants that a lasting answer gives. */
export type GrantOffer = {
  /** Scope of the offer, for users. */
  readonly description: string;
  /** An effect is covered when all of them are granted. */
  readonly keys: readonly Grant[];
};

export type Lasting = "session" | "always";

/** Lookup of grants, as the policy needs it. */
export type GrantLookup = { covers(offer: GrantOffer): boolean };

export class Grants implements GrantLookup {
  readonly #path: string;
  readonly #onDefect: (message: string) => void;
  readonly #session = new Map<string, Grant>();
  #always: ReadonlyMap<string, Grant> = new Map();
  /** Version of the file that was read last; undefined when there is no file. */
  #version: string | undefined;

  /** `path`: file of the grants for always. `onDefect` gets one line when the file cannot be read or written. */
  constructor(path: string, onDefect: (message: string) => void) {
    this.#path = path;
    this.#onDefect = onDefect;
    this.#refresh();
  }

  covers({ keys }: GrantOffer): boolean {
    this.#refresh();
    return keys.length > 0 && keys.every(({ id }) => this.#session.has(id) || this.#always.has(id));
  }

  keep({ keys }: GrantOffer, lasting: Lasting): void {
    if (lasting === "session") {
      for (const key of keys) this.#session.set(key.id, key);
      return;
    }
    // Not for the session too: another window that revokes the grant revokes it here.
    this.#change((grants) => {
      for (const key of keys) grants.set(key.id, key);
    });
  }

  /** All current grants, those for always first. */
  list(): readonly (Grant & { readonly lasting: Lasting })[] {
    this.#refresh();
    const always = [...this.#always.values()].map((grant) => ({ ...grant, lasting: "always" as const }));
    const session = [...this.#session.values()].filter(({ id }) => !this.#always.has(id));
    return [...always, ...session.map((grant) => ({ ...grant, lasting: "session" as const }))];
  }

  /** Revokes a grant, here and in the file. False when no grant has this id. */
  revoke(id: string): boolean {
    this.#refresh();
    const known = this.#session.delete(id);
    if (!this.#always.has(id)) return known;
    this.#change((grants) => grants.delete(id));
    return true;
  }

  /** Reads the file again when another window changed it. */
  #refresh(): void {
    const version = fileVersion(this.#path);
    if (version === this.#version) return;
    this.#version = version;
    this.#always = this.#load();
  }

  /** A damaged file grants nothing; its text is copied before the file is overwritten. */
  #load(): ReadonlyMap<string, Grant> {
    if (!existsSync(this.#path)) return new Map();
    try {
      const { grants } = fileSchema.parse(JSON.parse(readTextSync(this.#path)));
      return new Map(grants.map((grant) => [grant.id, grant]));
    } catch {
      const copy = `${this.#path}.damaged`;
      this.#attempt("kept aside", () => copyFileSync(this.#path, copy));
      this.#onDefect(
        `${this.#path} is damaged: Hermes asks again for everything it granted. A copy of the file is ${copy}.`,
      );
      return new Map();
    }
  }

  #change(change: (grants: Map<string, Grant>) => void): void {
    let isKnown = false;
    this.#attempt("written, so the change ends with this process", () => {
      makeFolder(dirname(this.#path), 0o700);
      withLockSync(`${this.#path}.lock`, () => {
        this.#refresh();
        this.#always = changed(this.#always, change);
        const file = { version: 1, grants: [...this.#always.values()] };
        const temporary = `${this.#path}.${process.pid}.tmp`;
        writeFileSync(temporary, `${JSON.stringify(file, undefined, 2)}\n`, { mode: 0o600 });
        renameSync(temporary, this.#path);
        this.#version = fileVersion(this.#path);
        isKnown = true;
      });
    });
    // A change that cannot be written holds in this process: above all a revoked grant.
    if (!isKnown) this.#always = changed(this.#always, change);
  }

  #attempt(what: string, action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#onDefect(`${this.#path} cannot be ${what}: ${writeFault(error)}`);
    }
  }
}

function changed(
  before: ReadonlyMap<string, Grant>,
  change: (grants: Map<string, Grant>) => void,
): ReadonlyMap<string, Grant> {
  const grants = new Map(before);
  change(grants);
  return grants;
}
