/**
 * Lasting permissions, as rows that people read and write: those of this session, and those for always in the list
 * `approvals.allow` of config.yaml, or in the settings of a client that keeps such a list.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { changeConfig, fileVersion } from "../config/home-file.ts";
import { messageOf } from "../platform/errors.ts";
import { readText } from "../platform/text-file.ts";

export type Grant = {
  /** The row that an answer writes: what is allowed, and where. */
  readonly row: string;
  /** Other rows that cover the same, such as one of the user for a shorter prefix or any place. */
  readonly others?: readonly string[];
};

/** Permissions that a lasting answer gives. An effect is covered when all of them are. */
export type GrantOffer = readonly Grant[];

export type Lasting = "session" | "always";

export type GrantLookup = { covers(offer: GrantOffer): boolean };

export type ClientRows = {
  readonly rows: () => readonly string[];
  readonly change: (row: string, isIn: boolean) => Promise<unknown>;
};

export function scopeOf(offer: GrantOffer): string {
  return offer.map(({ row }) => row).join("; ");
}

const configSchema = z.object({ approvals: z.object({ allow: z.array(z.string()) }) });

export class Grants implements GrantLookup {
  readonly #home: string;
  readonly #onDefect: (message: string) => void;
  readonly #client: ClientRows | undefined;
  readonly #session = new Set<string>();
  /** Rows of config.yaml, and the version of the file that they come from. */
  #file: readonly string[] = [];
  #version: string | undefined;
  /** Rows that were added or removed, where the list does not show it: a client is slow, or the disk is full. */
  readonly #changes = new Map<string, boolean>();

  /** `home`: Hermes' home folder. `onDefect` gets one line when config.yaml cannot be read or written. */
  constructor(home: string, onDefect: (message: string) => void, client?: ClientRows) {
    this.#home = home;
    this.#onDefect = onDefect;
    this.#client = client;
  }

  get #path(): string {
    return join(this.#home, "config.yaml");
  }

  /** Reads config.yaml again when the user or another window changed it. Never rejects. */
  async refresh(): Promise<void> {
    const version = fileVersion(this.#path);
    if (version === this.#version) return;
    try {
      const { parseYaml } = await import("../config/yaml.ts");
      const text = version === undefined ? "" : await readText(this.#path);
      this.#file = configSchema.safeParse(parseYaml(text)).data?.approvals.allow ?? [];
    } catch (error) {
      this.#file = [];
      this.#onDefect(`${this.#path} cannot be read, so its permissions do not count: ${messageOf(error)}`);
    }
    this.#version = version;
  }

  covers(offer: GrantOffer): boolean {
    const always = this.#always();
    const has = (row: string): boolean => this.#session.has(row) || always.has(row);
    return offer.length > 0 && offer.every(({ row, others = [] }) => has(row) || others.some(has));
  }

  /** Counts at once. Never rejects: a row that cannot be written holds until the process ends. */
  async keep(offer: GrantOffer, lasting: Lasting): Promise<void> {
    if (lasting === "session") for (const { row } of offer) this.#session.add(row);
    // Not for the session too: another window that revokes the grant revokes it here.
    else await Promise.all(offer.map(({ row }) => this.#change(row, true, this.#client)));
  }

  /** All current rows as they are written, those for always first. */
  async list(): Promise<readonly { readonly row: string; readonly lasting: Lasting }[]> {
    await this.refresh();
    const always = this.#always();
    const session = [...this.#session].filter((row) => !always.has(row));
    return [
      ...[...always.values()].map((row) => ({ row, lasting: "always" as const })),
      ...session.map((row) => ({ row, lasting: "session" as const })),
    ];
  }

  /** Removes a row wherever it stands. False when there is none. */
  async revoke(row: string): Promise<boolean> {
    await this.refresh();
    const isKnown = this.#session.delete(row);
    if (![...this.#always().values()].includes(row)) return isKnown;
    if (this.#client?.rows().includes(row)) await this.#change(row, false, this.#client);
    if (this.#file.includes(row)) await this.#change(row, false, undefined);
    this.#changes.delete(row);
    return true;
  }

  /** Rows for always, by their form with whole paths. */
  #always(): ReadonlyMap<string, string> {
    const given = [...this.#file, ...(this.#client?.rows() ?? [])];
    const rows = new Map(given.map((row) => [withHome(row), row]));
    for (const [row, isIn] of this.#changes) {
      if (isIn) rows.set(withHome(row), row);
      else rows.delete(withHome(row));
      if (given.includes(row) === isIn) this.#changes.delete(row);
    }
    return rows;
  }

  async #change(row: string, isIn: boolean, client: ClientRows | undefined): Promise<void> {
    this.#changes.set(row, isIn);
    try {
      if (client) await client.change(row, isIn);
      else await this.#write(row, isIn);
    } catch (error) {
      this.#onDefect(`${messageOf(error)}. The change of this permission ends with this process: ${row}`);
    }
  }

  async #write(row: string, isIn: boolean): Promise<void> {
    const { withListed } = await import("../config/yaml.ts");
    await changeConfig(this.#home, "a permission", (text) => withListed(text, ["approvals", "allow"], row, isIn));
    await this.refresh();
  }
}

/** Users write their home as `~`. */
function withHome(row: string): string {
  return row.replace(/(?<= in |: )~(?=[\\/]|$| as of )/, homedir());
}
