/** MCP servers, their tools, hooks and skills that the user switched on or off, for all sessions, in a file of the home. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod";
import { withLock } from "../platform/locks/file-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { switchesFile } from "./home.ts";
import { readJsonFile, writeJsonFile } from "./home-file.ts";

const switchSchema = z.object({
  isOn: z.boolean().exactOptional(),
  toolsOff: z.array(z.string()).default([]),
  /** Problem of a server that the user has read, in any session. */
  shownProblem: z.string().optional(),
});

const fileSchema = z.object({ version: z.literal(1), switches: z.record(z.string(), switchSchema) });

type Switch = z.output<typeof switchSchema>;

/** The ids are `mcp:NAME`, `hook:HASH` and `skill:NAME`; a workspace's server has its consent's hash as the name. */
export class Switches {
  readonly #path: string;
  #switches: ReadonlyMap<string, Switch> = new Map();

  private constructor(path: string) {
    this.#path = path;
  }

  /** Reads the file. With a missing or damaged file, only the settings count. */
  static async of(home: string): Promise<Switches> {
    const switches = new Switches(switchesFile(home));
    await switches.#read();
    return switches;
  }

  /** State of an extension; empty while the user has switched nothing. */
  get(id: string): Switch {
    return this.#switches.get(id) ?? { toolsOff: [] };
  }

  /** Rejects when writing fails. Reads the file again before, and so keeps the changes of other processes. */
  async set(id: string, change: (before: Switch) => Partial<Switch>): Promise<void> {
    makeFolder(dirname(this.#path), 0o700);
    await withLock(`${this.#path}.lock`, async () => {
      await this.#read();
      const before = this.get(id);
      this.#switches = new Map([...this.#switches, [id, { ...before, ...change(before) }]]);
      await writeJsonFile(this.#path, { version: 1, switches: Object.fromEntries(this.#switches) });
    });
  }

  async #read(): Promise<void> {
    if (!existsSync(this.#path)) return; // most users switch nothing, and a failed read takes far longer
    const switches = fileSchema.safeParse(await readJsonFile(this.#path)).data?.switches ?? {};
    this.#switches = new Map(Object.entries(switches));
  }
}
