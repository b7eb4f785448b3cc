/** Store of facts and preferences: files under one lock, and a record of each change in the ledger. */
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { learningFolder, memoriesFolder } from "../../config/home.ts";
import { replaceFile } from "../../config/home-file.ts";
import { Memory } from "../../memory/memory.ts";
import { withLock } from "../../platform/locks/file-lock.ts";
import { makeFolder } from "../../platform/make-folder.ts";
import type { LearntAction, LearntItem } from "../../protocol/learning.ts";
import { episodePath, episodePaths, readEpisode, rewriteEpisode } from "../episode-files.ts";
import {
  type EntityFile,
  EVERYWHERE,
  entityPath,
  type Fact,
  factsOf,
  formatEntity,
  isActive,
  readEntities,
  readFacts,
} from "../facts.ts";
import type { LearningChange, LearningLedger, LearningRecord } from "../learning-ledger.ts";
import type { LearntOutcome, LearntStore } from "../loop.ts";
import { type Measured, receiptOf } from "../receipts.ts";
import { acted, episodeItem, itemOf, withoutFact } from "./learnt-items.ts";
import { changeOf, type Merged } from "./merge.ts";
import { type Batch, isFrom, mergeBatch, rejectionId } from "./merge-batch.ts";

const MAX_EPISODES = 200;
const MAX_CLOSED = 200;

type Ports = {
  readonly home: string;
  readonly ledger: LearningLedger;
  readonly clock: { now(): number };
  /** Number of sessions in which each item reached the model. */
  readonly uses: () => Promise<ReadonlyMap<string, number>>;
  /** Ended sessions, for the comparison of those with and without an item. */
  readonly marks: () => Promise<ReadonlyMap<string, Measured>>;
};

export class FactStore implements LearntStore {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** All facts. Rejects when reading fails. */
  read(): Promise<readonly Fact[]> {
    return readFacts(this.#ports.home);
  }

  /** Writes what a session showed. A repetition changes nothing. Resolves to the new facts. */
  async commit(batch: Batch): Promise<readonly Fact[]> {
    const forgotten = await this.#forgotten();
    let added: readonly Fact[] = [];
    await this.#change(async (facts) => {
      const merged = mergeBatch(facts, batch, forgotten);
      const changes = await this.#unrecorded(merged.changes);
      const before = new Set(facts.filter(isActive).map(({ id }) => id));
      added = merged.facts.filter((fact) => isActive(fact) && !before.has(fact.id));
      return { facts: merged.facts, changes };
    });
    return added;
  }

  /** Closes items. `reasons`: for people, by the item's id. Rejects when writing fails. */
  async close(reasons: ReadonlyMap<string, string>): Promise<void> {
    if (reasons.size === 0) return;
    const at = this.#ports.clock.now();
    await this.#change((facts) => ({
      facts: facts.map((fact) => (reasons.has(fact.id) && isActive(fact) ? { ...fact, until: at } : fact)),
      changes: facts
        .filter((fact) => reasons.has(fact.id) && isActive(fact))
        .map((fact) => changeOf("close", fact, fact.text, reasons.get(fact.id) ?? "")),
    }));
  }

  /** Changes facts without a record. `change` returns the same fact for one that stays. Rejects when writing fails. */
  async revise(change: (fact: Fact) => Fact): Promise<void> {
    const isChanged = (await this.read()).some((fact) => change(fact) !== fact);
    if (isChanged) await this.#change((facts) => ({ facts: facts.map(change), changes: [] }));
  }

  async items(): Promise<readonly LearntItem[]> {
    const { home } = this.#ports;
    const [facts, uses, marks] = await Promise.all([this.read(), this.#ports.uses(), this.#ports.marks()]);
    const closed = facts.filter(({ until }) => until !== undefined).toSorted((one, other) => other.from - one.from);
    const listed = [...facts.filter(({ until }) => until === undefined), ...closed.slice(0, MAX_CLOSED)];
    const paths = (await episodePaths(home)).slice(-MAX_EPISODES);
    const episodes = await Promise.all(paths.map(async (path) => ({ path, episode: await readEpisode(path) })));
    return [
      ...listed.map((fact) => {
        const item = itemOf(fact, home, uses.get(fact.id) ?? 0);
        return { ...item, reason: `${item.reason} ${receiptOf(fact, marks.values())}`.trim() };
      }),
      ...episodes.flatMap(({ path, episode }) =>
        episode === undefined ? [] : [episodeItem(path, episode, uses.get(`e-${episode.sessionId}`) ?? 0)],
      ),
    ].toSorted((one, other) => other.at - one.at);
  }

  async act(id: string, action: LearntAction): Promise<LearntOutcome | undefined> {
    if (id.startsWith("e-")) return this.#actOnEpisode(id, action);
    const facts = await this.read();
    const fact = facts.find((each) => each.id === id);
    if (fact === undefined) return undefined;
    const item = itemOf(fact, this.#ports.home, 0);
    if (!item.actions.includes(action)) return { ok: false, message: `This cannot be done with: ${fact.text}` };
    if (action === "forget") return this.#forget(fact);
    let message = "";
    await this.#change((now) => {
      const done = acted(now, fact.id, action, this.#ports.clock.now());
      ({ message } = done);
      return done;
    });
    return { ok: true, message };
  }

  /** Changes the facts under the lock: files, then the ledger. */
  async #change(change: (facts: readonly Fact[]) => Merged | Promise<Merged>): Promise<void> {
    const { home, ledger } = this.#ports;
    makeFolder(learningFolder(home), 0o700);
    await withLock(join(learningFolder(home), "facts.lock"), async () => {
      const files = await readEntities(home);
      const { facts, changes } = await change(factsOf(files));
      await writeFiles(home, files, facts);
      await ledger.append(changes);
    });
  }

  /** The changes that no earlier run has recorded. */
  async #unrecorded(changes: readonly LearningChange[]): Promise<readonly LearningChange[]> {
    const keyOf = ({ op, target, evidence }: LearningChange): string => `${op} ${target} ${evidence.at(-1) ?? ""}`;
    const recorded = new Set((await this.#ports.ledger.read()).map(keyOf));
    return changes.filter((change) => !recorded.has(keyOf(change)));
  }

  /** True for a session whose episode the user had forgotten, or a fact that came from it. Rejects when reading fails. */
  async hasForgotten(sessionId: string): Promise<boolean> {
    return (await this.#forgotten()).some((record) => isFrom(record, sessionId));
  }

  /** Records of everything that the user had forgotten. */
  async #forgotten(): Promise<readonly LearningRecord[]> {
    return (await this.#ports.ledger.read()).filter(({ op }) => op === "forget");
  }

  async #forget(fact: Fact): Promise<LearntOutcome> {
    const { home, ledger } = this.#ports;
    for (const path of await episodePaths(home)) {
      const episode = await readEpisode(path);
      if (episode === undefined) continue;
      const without = withoutFact(episode, fact);
      if (!isDeepStrictEqual(without, episode)) await rewriteEpisode(home, without);
    }
    for (const target of [fact.id, rejectionId(fact.text)]) await ledger.forget(target, fact.text);
    await this.#memoryOf(fact).forget(fact.text, fact.id);
    await this.#change((facts) => ({
      facts: facts.filter(({ id }) => id !== fact.id),
      changes: [
        {
          ...changeOf("forget", { ...fact, text: "" }, null, "The user had it forgotten."),
          actor: "user",
          after: null,
        },
      ],
    }));
    return {
      ok: true,
      message: `Forgotten: ${fact.text.replace(/[.!?]$/, "")}. The session that it came from stays until you delete it.`,
    };
  }

  #memoryOf({ scope }: Fact): Memory {
    const { home, clock } = this.#ports;
    const memory = new Memory({ folder: memoriesFolder(home), now: () => clock.now() });
    return scope === EVERYWHERE ? memory : memory.forProject(scope);
  }

  async #actOnEpisode(id: string, action: LearntAction): Promise<LearntOutcome | undefined> {
    const { home, ledger } = this.#ports;
    const path = episodePath(home, { sessionId: id.slice(2) });
    if ((await readEpisode(path)) === undefined) return undefined;
    if (action !== "forget") return { ok: false, message: "An episode can only be forgotten." };
    await rm(path, { force: true });
    await ledger.append([
      { ...changeOf("forget", { id, text: "", evidence: [] }, null, "The user had it forgotten."), actor: "user" },
    ]);
    return { ok: true, message: "The episode is forgotten; the session itself stays." };
  }
}

async function writeFiles(home: string, files: readonly EntityFile[], facts: readonly Fact[]): Promise<void> {
  const homes = new Map(files.flatMap((file) => factsOf([file]).map(({ id }) => [id, file.path] as const)));
  const bySlug = new Map(files.map((file) => [file.path, file]));
  const places = new Map<string, Fact[]>(files.map(({ path }) => [path, []]));
  for (const fact of facts) {
    const path = homes.get(fact.id) ?? entityPath(home, fact.subject);
    places.set(path, [...(places.get(path) ?? []), fact]);
  }
  for (const [path, own] of places) {
    const file = bySlug.get(path);
    const [first] = own;
    if (file === undefined && first === undefined) continue;
    const { entity, subject } = file ?? first ?? { entity: "project", subject: "" };
    const lines = file?.lines ?? [];
    const text = formatEntity({ entity, subject, lines }, own);
    if (file !== undefined && text === formatEntity(file, factsOf([file]))) continue;
    makeFolder(dirname(path), 0o700);
    await replaceFile(path, text);
  }
}
