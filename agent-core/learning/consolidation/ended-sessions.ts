/**
 * Sessions that have ended and are not consolidated yet. The watermark is a log beside the facts, in which the last line of
 * a session counts: a kill at any moment costs at most the repetition of one piece.
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { learningFolder, sessionsFolder } from "../../config/home.ts";
import { appendLines, readJsonLines } from "../../config/home-file.ts";
import { hasCode } from "../../platform/errors.ts";
import { lockHolder } from "../../platform/locks/file-lock.ts";
import { readTail } from "../../sessions/journal-lines.ts";
import { journalPath, sessionIdsIn } from "../../sessions/session-files.ts";

const markSchema = z.object({
  session: z.string(),
  /** Milliseconds since 1970. */
  at: z.number(),
  /** Bytes of the journal that were read. */
  size: z.number(),
  /** Messages of the user among them. */
  messages: z.number(),
  /**
   * `begun`: of a piece whose writes follow. `facts`: by code, and a model is due. `done`: by code and a model. `skipped`: not
   * to be consolidated.
   */
  state: z.enum(["begun", "facts", "done", "skipped"]),
  /** Answers of a model that could not be used, and failed calls. */
  tries: z.number(),
  /** Facts that were added. */
  added: z.number(),
  /** Items that reached the model in the session. */
  used: z.array(z.string()).readonly().catch([]).default([]),
  /** Working folder, absolute. */
  cwd: z.string().optional(),
  /** Messages with which the user rejected a result, as the model counts them. */
  corrections: z.number().optional(),
});
export type Mark = z.infer<typeof markSchema>;

export type EndedSession = {
  readonly id: string;
  readonly path: string;
  readonly size: number;
  readonly mark: Mark | undefined;
  /** `code`: the journal grew since. `model`: only the question to the model is due. */
  readonly due: "code" | "model";
};

export type EndedPorts = {
  readonly home: string;
  readonly now: () => number;
  readonly isOpen: (sessionId: string) => boolean;
  /** Time without activity after which an open session counts as ended. Milliseconds. */
  readonly idleMs: () => number;
};

/** Older sessions than this are left alone: a home of years would cost days of the budget. Milliseconds. */
const MAX_AGE_MS = 60 * 24 * 60 * 60 * 1_000;
/** A journal that rested this long is looked at in every twentieth scan only. Milliseconds. */
const RESTING_MS = 7 * 24 * 60 * 60 * 1_000;
const FULL_SCAN = 20;
/** Pause before another try, doubled each time. Milliseconds. */
const RETRY_MS = 600_000;
export const MAX_TRIES = 3;

export class EndedSessions {
  readonly #ports: EndedPorts;
  readonly #file: string;
  #marks: { readonly size: number; readonly byId: ReadonlyMap<string, Mark> } = { size: -1, byId: new Map() };
  #scans = 0;
  /** Sessions of the current scan that are left, oldest first. */
  #waiting: EndedSession[] | undefined;

  constructor(ports: EndedPorts) {
    this.#ports = ports;
    this.#file = join(learningFolder(ports.home), "consolidated.jsonl");
  }

  /**
   * The next session; undefined when none is due, after which a new scan begins. `hasModel` is asked only when a session
   * waits for a model. Rejects when reading fails.
   */
  async next(hasModel: () => Promise<boolean>): Promise<EndedSession | undefined> {
    this.#waiting ??= await this.#scan();
    const marks = await this.marks();
    for (let one = this.#waiting.shift(); one !== undefined; one = this.#waiting.shift()) {
      const fresh = await this.#due(one.id, marks.get(one.id), true);
      if (fresh !== undefined && (fresh.due === "code" || (await hasModel()))) {
        // The same session comes again for the question to the model.
        if (fresh.due === "code") this.#waiting.unshift(fresh);
        return fresh;
      }
    }
    this.#waiting = undefined;
    return undefined;
  }

  /** Rejects when writing fails. */
  async mark(mark: Omit<Mark, "at">): Promise<void> {
    await appendLines(this.#file, `${JSON.stringify({ at: this.#ports.now(), ...mark })}\n`);
  }

  /** The last mark of each session. Rejects when reading fails. */
  async marks(): Promise<ReadonlyMap<string, Mark>> {
    try {
      const { size } = await stat(this.#file);
      if (size === this.#marks.size) return this.#marks.byId;
      const read = await readJsonLines(this.#file, markSchema);
      this.#marks = { size, byId: new Map(read.map((mark) => [mark.session, mark])) };
    } catch (error) {
      if (!hasCode(error, "ENOENT")) throw error;
    }
    return this.#marks.byId;
  }

  /** Number of sessions in which each item reached the model. Rejects when reading fails. */
  async uses(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const { used } of (await this.marks()).values())
      for (const id of used) counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  }

  async #scan(): Promise<EndedSession[]> {
    const folder = sessionsFolder(this.#ports.home);
    const marks = await this.marks();
    const before = this.#scans++ % FULL_SCAN === 0 ? 0 : this.#ports.now() - RESTING_MS;
    const found: EndedSession[] = [];
    for (const id of await sessionIdsIn(folder)) {
      const mark = marks.get(id);
      const isFinal = mark?.state === "done" || mark?.state === "skipped";
      const due = isFinal && mark.at < before ? undefined : await this.#due(id, mark);
      if (due !== undefined) found.push(due);
    }
    return found.toSorted((one, other) => (one.mark?.tries ?? 0) - (other.mark?.tries ?? 0));
  }

  /** Undefined for a session that has not ended, and for a session that needs no work. */
  async #due(id: string, mark: Mark | undefined, isKnownEnded = false): Promise<EndedSession | undefined> {
    const { home, now, isOpen, idleMs } = this.#ports;
    const path = journalPath(sessionsFolder(home), id);
    const facts = path === undefined ? undefined : await stat(path).catch(() => undefined);
    if (path === undefined || facts === undefined) return undefined;
    const session = { id, path, size: facts.size, mark };
    if (mark !== undefined && mark.size === facts.size && mark.state !== "begun") {
      return this.#isModelDue(mark) ? { ...session, due: "model" } : undefined;
    }
    if (mark === undefined && now() - begunAt(id) > MAX_AGE_MS) return undefined;
    const mayGrow = !isKnownEnded && (isOpen(id) || isLocked(path)) && !(await hasRested(path, now(), idleMs()));
    return mayGrow ? undefined : { ...session, due: "code" };
  }

  #isModelDue({ state, tries, at }: Mark): boolean {
    if (state !== "facts" || tries >= MAX_TRIES) return false;
    const pause = tries === 0 ? 0 : RETRY_MS * 2 ** (tries - 1);
    return this.#ports.now() - at >= pause;
  }
}

/** Milliseconds since 1970, from the session's id. */
function begunAt(id: string): number {
  const [, year, month, day, hour] = /^(\d{4})(\d\d)(\d\d)_(\d\d)/.exec(id) ?? [];
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour));
}

function isLocked(path: string): boolean {
  try {
    return lockHolder(`${path}.lock`) !== undefined;
  } catch {
    return true; // the lock cannot be read
  }
}

/** True when the journal's last entry is older than the idle time. */
async function hasRested(path: string, now: number, idleMs: number): Promise<boolean> {
  const times = [...(await readTail(path)).matchAll(/"at":(\d{12,14})\}\s*$/gm)];
  const last = Number(times.at(-1)?.[1]);
  return !Number.isNaN(last) && now - last >= idleMs;
}
