/**
 * Episodes as this loop reads them: those that consolidation stored, and without consolidation the same facts from the
 * journals of ended sessions. Nothing is written.
 */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { sessionsFolder } from "../../config/home.ts";
import { readEntries } from "../../sessions/read-journal.ts";
import { journalPath, sessionIdsIn } from "../../sessions/session-files.ts";
import { episodeOf } from "../episode.ts";
import { episodePath, readEpisodes } from "../episode-files.ts";
import type { LoopPorts } from "../loop.ts";
import { transcriptOf } from "../transcript.ts";
import type { Cluster } from "./clusters.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Oldest sessions whose journals are read. Their ids begin with the date. */
const READ_DAYS = 28;

type Ports = Pick<LoopPorts, "home" | "clock" | "settings">;

export class SessionEpisodes {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Episodes of the user's sessions that ended within these days, oldest first. */
  async read(days: number): Promise<Cluster> {
    const { home, clock, settings } = this.#ports;
    const now = clock.now();
    const from = now - days * DAY_MS;
    const episodes = settings().consolidation
      ? await readEpisodes(home, { from, to: now })
      : await this.#compute(from, now - this.#idleMs);
    return episodes.filter(({ origin }) => origin === "user");
  }

  /** Text that changes with every new or changed episode of this month or the last one. */
  async stamp(): Promise<string> {
    const { home, clock, settings } = this.#ports;
    if (!settings().consolidation) {
      const sizes = (await this.#journals()).map(({ id, size }) => `${id} ${size}`);
      return [Math.floor(clock.now() / this.#idleMs), ...sizes].join(" ");
    }
    const now = clock.now();
    const months = [now, now - 31 * DAY_MS].map((at) => new Date(at).toISOString().slice(0, 7).replace("-", ""));
    const folders = months.map((month) => dirname(episodePath(home, { sessionId: `${month}00` })));
    const times = folders.map((folder) =>
      stat(folder).then(
        ({ mtimeMs }) => String(mtimeMs),
        () => "none",
      ),
    );
    return (await Promise.all(times)).join(" ");
  }

  /** Time without activity after which a session counts as ended. Milliseconds. */
  get #idleMs(): number {
    return this.#ports.settings().sessionIdleMinutes * 60_000;
  }

  async #compute(from: number, to: number): Promise<Cluster> {
    const read = (await this.#journals()).map(async ({ id, path }) =>
      episodeOf(transcriptOf(id, await readEntries(path))),
    );
    return (await Promise.all(read))
      .flatMap((episode) => episode ?? [])
      .filter(({ endedAt }) => endedAt >= from && endedAt <= to)
      .toSorted((one, other) => one.endedAt - other.endedAt);
  }

  /** Journals of the last days, by the session's id. */
  async #journals(): Promise<readonly { readonly id: string; readonly path: string; readonly size: number }[]> {
    const { home, clock } = this.#ports;
    const folder = sessionsFolder(home);
    const first = new Date(clock.now() - READ_DAYS * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "");
    const ids = (await sessionIdsIn(folder)).filter((id) => id.slice(0, 8) >= first);
    const found = await Promise.all(
      ids.map(async (id) => {
        const path = journalPath(folder, id);
        const facts = path === undefined ? undefined : await stat(path).catch(() => undefined);
        return path === undefined || facts === undefined ? [] : [{ id, path, size: facts.size }];
      }),
    );
    return found.flat();
  }
}
