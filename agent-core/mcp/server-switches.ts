/** Servers and tools that the user switched on or off, for all sessions, in a file of the home. */

import { dirname } from "node:path";
import * as z from "zod";
import { serverSwitchesFile } from "../config/home.ts";
import { readJsonFile, writeJsonFile } from "../config/home-file.ts";
import { withLock } from "../platform/locks/with-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";

const switchesSchema = z.object({
  version: z.literal(1),
  servers: z.record(
    z.string(),
    z.object({ isOn: z.boolean().exactOptional(), toolsOff: z.array(z.string()).default([]) }),
  ),
});

type Switch = z.output<typeof switchesSchema>["servers"][string];

export class ServerSwitches {
  readonly #path: string;
  #servers: Readonly<Record<string, Switch>> = {};

  private constructor(path: string) {
    this.#path = path;
  }

  /** A missing or damaged file leaves every server as its settings say. */
  static async of(home: string): Promise<ServerSwitches> {
    const switches = new ServerSwitches(serverSwitchesFile(home));
    await switches.#read();
    return switches;
  }

  /** Undefined while the user has not switched this server. `key`: see `switchKey`. */
  isOn(key: string): boolean | undefined {
    return this.#servers[key]?.isOn;
  }

  /** Tools that the user switched off, by the server's names. */
  toolsOff(key: string): readonly string[] {
    return this.#servers[key]?.toolsOff ?? [];
  }

  switchServer(key: string, isOn: boolean): Promise<void> {
    return this.#change(key, (before) => ({ ...before, isOn }));
  }

  switchTool(key: string, tool: string, isOn: boolean): Promise<void> {
    return this.#change(key, (before) => {
      const others = before.toolsOff.filter((name) => name !== tool);
      return { ...before, toolsOff: isOn ? others : [...others, tool] };
    });
  }

  async #read(): Promise<void> {
    this.#servers = switchesSchema.safeParse(await readJsonFile(this.#path)).data?.servers ?? {};
  }

  async #change(key: string, change: (before: Switch) => Switch): Promise<void> {
    makeFolder(dirname(this.#path), 0o700);
    await withLock(`${this.#path}.lock`, async () => {
      await this.#read();
      this.#servers = { ...this.#servers, [key]: change(this.#servers[key] ?? { toolsOff: [] }) };
      await writeJsonFile(this.#path, { version: 1, servers: this.#servers });
    });
  }
}
