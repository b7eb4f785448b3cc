/**
 * Messages that other processes leave for chats, such as results of planned jobs: files in a folder of the gateway, each
 * taken once. Only chats of people who may write, and home chats, get one.
 */
import { watch } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { deliveriesFolder, deliverySchema } from "../agent-core/config/deliveries.ts";
import { parseJson } from "../agent-core/platform/json.ts";
import { makeFolder } from "../agent-core/platform/make-folder.ts";
import type { ChatPorts } from "./chats/chat-session.ts";
import type { Place } from "./outbox/outbox.ts";
import type { GatewaySettings } from "./settings.ts";

/** Time between two looks: not every file system reports changes. Milliseconds. */
const LOOK_MS = 10_000;

/** Platform and chat of `platform[:chat[:thread]]`. */
export function targetIn(text: string): { readonly platform: string; readonly chat: string | undefined } {
  const at = text.indexOf(":");
  return at < 0 ? { platform: text, chat: undefined } : { platform: text.slice(0, at), chat: text.slice(at + 1) };
}

export type DeliveriesOptions = Pick<ChatPorts, "journal" | "outbox" | "clock" | "log"> &
  Pick<GatewaySettings, "home" | "platforms">;

export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #folder: string;
  readonly #stops: (() => void)[] = [];
  #work: Promise<void> = Promise.resolve();

  constructor(options: DeliveriesOptions) {
    this.#options = options;
    this.#folder = deliveriesFolder(options.home);
    makeFolder(this.#folder, 0o700);
    const look = (): void => {
      this.#work = this.#work
        .then(() => this.#takeAll())
        .catch((error: unknown) => options.log(`deliveries: ${String(error)}`));
    };
    const watcher = watch(this.#folder, look);
    watcher.on("error", () => undefined); // the looks go on
    this.#stops.push(() => watcher.close(), options.clock.every(LOOK_MS, look));
    look();
  }

  async dispose(): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.#work;
  }

  async #takeAll(): Promise<void> {
    const names = await readdir(this.#folder);
    for (const name of names.filter((each) => each.endsWith(".json")).sort()) {
      const path = join(this.#folder, name);
      const delivery = deliverySchema.safeParse(parseJson(await readFile(path, "utf8").catch(() => ""))).data;
      const place = delivery === undefined ? undefined : this.#placeOf(delivery.to);
      if (delivery !== undefined && place !== undefined) {
        const entry = this.#options.outbox.entry(place, delivery.text);
        if (this.#options.journal.addOnce(`delivery:${name}`, [entry])) this.#options.outbox.push([entry]);
      } else
        this.#options.log(
          `a delivery was left out: ${delivery === undefined ? "it cannot be read" : "its chat is not known"}`,
        );
      await rm(path, { force: true });
    }
  }

  /** Undefined for a chat that nobody who may write has used. */
  #placeOf(to: string): Place | undefined {
    const { journal, platforms } = this.#options;
    const { platform, chat: named } = targetIn(to);
    const settings = platforms.find(({ name }) => name === platform);
    const home = settings?.homeChat ?? journal.states.get(`home ${platform}`);
    const chat = named ?? home;
    if (settings === undefined || chat === undefined) return undefined;
    const known = [...journal.chats.values()].find((each) => each.platform === platform && each.chat === chat);
    if (known === undefined && chat !== home && !settings.allowed.has(chat)) return undefined;
    return { platform, chat, isGroup: known?.isGroup ?? false };
  }
}
