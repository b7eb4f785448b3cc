/** Answers that last: for this session, or for always in a file of the home folder. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod";

const fileSchema = z.object({ version: z.literal(1), keys: z.array(z.string()) });

/** What a lasting answer would cover. */
export type GrantOffer = {
  /** In plain words, for people. */
  readonly description: string;
  /** All of them must be granted. */
  readonly keys: readonly string[];
};

export class Grants {
  readonly #path: string;
  readonly #onDefect: (message: string) => void;
  readonly #session = new Set<string>();
  #always: ReadonlySet<string>;

  /** `path` is the file of the lasting ones; `onDefect` is told in a line when it cannot be read or written. */
  constructor(path: string, onDefect: (message: string) => void) {
    this.#path = path;
    this.#onDefect = onDefect;
    this.#always = this.#load();
  }

  covers({ keys }: GrantOffer): boolean {
    return keys.length > 0 && keys.every((key) => this.#session.has(key) || this.#always.has(key));
  }

  keep({ keys }: GrantOffer, lasting: "session" | "always"): void {
    for (const key of keys) this.#session.add(key);
    if (lasting === "always") this.#save(new Set([...this.#load(), ...keys]));
  }

  /** A damaged file grants nothing. */
  #load(): ReadonlySet<string> {
    if (!existsSync(this.#path)) return new Set();
    try {
      return new Set(fileSchema.parse(JSON.parse(readFileSync(this.#path, "utf8"))).keys);
    } catch {
      this.#onDefect(`${this.#path} cannot be read; what it granted asks again.`);
      return new Set();
    }
  }

  #save(keys: ReadonlySet<string>): void {
    this.#always = keys;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      const temporary = `${this.#path}.${process.pid}.tmp`;
      writeFileSync(temporary, `${JSON.stringify({ version: 1, keys: [...keys] }, undefined, 2)}\n`, { mode: 0o600 });
      renameSync(temporary, this.#path);
    } catch (error) {
      this.#onDefect(`${this.#path} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
