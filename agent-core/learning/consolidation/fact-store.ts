/** Store of facts and preferences: files under one lock, and a record of each change in the ledger. */
import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { learningFolder } from "../../config/home.ts";
import { replaceFile } from "../../config/home-file.ts";
import { isSameStatement, overlap, readStatement, type Statement, similarity } from "../../memory/statement.ts";
import { withLock } from "../../platform/locks/with-lock.ts";
import { makeFolder } from "../../platform/make-folder.ts";
import type { LearntAction, LearntItem } from "../../protocol/learning.ts";
import { type Episode, episodePath, episodePaths, readEpisode, rewriteEpisode } from "../episodes.ts";
import {
  type EntityFile,
  EVERYWHERE,
  entityPath,
  entitySlug,
  type Fact,
  factId,
  factsOf,
  formatEntity,
  formatUserModel,
  isActive,
  isEdited,
  isPreference,
  isShown,
  readEntities,
  userModelPath,
  withUserEdits,
} from "../facts.ts";
import type { LearningChange, LearningLedger, LearningRecord } from "../ledger.ts";
import type { LearntOutcome, LearntStore } from "../loop.ts";
import type { Admitted } from "./gates.ts";
import { changeOf, merge, type Origin } from "./merge.ts";

/** Facts that one session may add. */
const MAX_FACTS = 8;
/** Rejections of a session that the ledger keeps. */
const MAX_REJECTIONS = 12;
const MAX_EPISODES = 200;
const MAX_CLOSED = 200;
/** Words in common from which two rules with the same value are the same. */
const SAME_RULE = 0.6;

export type Rejection = { readonly target: string; readonly text: string | null; readonly reason: string };

export type Batch = {
  readonly origin: Origin;
  readonly admitted: readonly Admitted[];
  readonly rejected: readonly Rejection[];
  /** An earlier run may have written a part of it. */
  readonly isRepeated: boolean;
};

type Ports = { readonly home: string; readonly ledger: LearningLedger; readonly clock: { now(): number } };

/** `changes`: for the ledger. */
type Change = { readonly facts: readonly Fact[]; readonly changes: readonly LearningChange[] };

export class FactStore implements LearntStore {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** All facts, with what a person changed in the files. Rejects when reading fails. */
  async read(): Promise<readonly Fact[]> {
    const { home, clock } = this.#ports;
    const [files, model] = await Promise.all([readEntities(home), readModel(home)]);
    return withUserEdits(unique(factsOf(files)), model, clock.now());
  }

  /** Writes what a session showed. A repetition changes nothing. Resolves to the new facts. */
  async commit(batch: Batch): Promise<readonly Fact[]> {
    const forgotten = new Set((await this.#forgotten()).flatMap(({ evidence }) => evidence));
    let added: readonly Fact[] = [];
    await this.#change(async (facts) => {
      const merged = mergeAll(facts, batch, forgotten);
      const changes = batch.isRepeated ? await this.#unrecorded(merged.changes) : merged.changes.filter(isNews(facts));
      const before = new Set(facts.filter(isActive).map(({ id }) => id));
      added = merged.facts.filter((fact) => isActive(fact) && !before.has(fact.id));
      return { facts: merged.facts, changes };
    });
    return added;
  }

  async items(): Promise<readonly LearntItem[]> {
    const { home } = this.#ports;
    const facts = await this.read();
    const closed = facts.filter(({ until }) => until !== undefined).toSorted((one, other) => other.from - one.from);
    const listed = [...facts.filter(({ until }) => until === undefined), ...closed.slice(0, MAX_CLOSED)];
    const paths = (await episodePaths(home)).slice(-MAX_EPISODES);
    const episodes = await Promise.all(paths.map(async (path) => ({ path, episode: await readEpisode(path) })));
    return [
      ...listed.map((fact) => itemOf(fact, home)),
      ...episodes.flatMap(({ path, episode }) => (episode === undefined ? [] : [episodeItem(path, episode)])),
    ].toSorted((one, other) => other.at - one.at);
  }

  async act(id: string, action: LearntAction): Promise<LearntOutcome | undefined> {
    if (id.startsWith("e-")) return this.#actOnEpisode(id, action);
    const facts = await this.read();
    const fact = facts.find((each) => each.id === id);
    if (fact === undefined) return undefined;
    const item = itemOf(fact, this.#ports.home);
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

  /** Changes the facts under the lock: files, then the user model, then the ledger. */
  async #change(change: (facts: readonly Fact[]) => Change | Promise<Change>): Promise<void> {
    const { home, clock, ledger } = this.#ports;
    makeFolder(learningFolder(home), 0o700);
    await withLock(join(learningFolder(home), "facts.lock"), async () => {
      const [files, model] = await Promise.all([readEntities(home), readModel(home)]);
      const before = withUserEdits(unique(factsOf(files)), model, clock.now());
      const { facts, changes } = await change(before);
      await writeFiles(home, files, facts);
      await writeModel(home, facts, model);
      await ledger.append(changes);
    });
  }

  /** The changes that no earlier run has recorded. */
  async #unrecorded(changes: readonly LearningChange[]): Promise<readonly LearningChange[]> {
    const keyOf = ({ op, target, evidence }: LearningChange): string => `${op} ${target} ${evidence.at(-1) ?? ""}`;
    const recorded = new Set((await this.#ports.ledger.read()).map(keyOf));
    return changes.filter((change) => !recorded.has(keyOf(change)));
  }

  async #forgotten(): Promise<readonly LearningRecord[]> {
    return (await this.#ports.ledger.read()).filter(({ op }) => op === "forget");
  }

  async #forget(fact: Fact): Promise<LearntOutcome> {
    const { home, ledger } = this.#ports;
    const { evidence } = fact;
    for (const sessionId of new Set(evidence.map(sessionOf))) {
      const path = episodePath(home, { sessionId });
      const episode = await readEpisode(path);
      if (episode !== undefined) await rewriteEpisode(home, withoutFact(episode, fact));
    }
    await ledger.forget(fact.id);
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
    return { ok: true, message: `Forgotten: ${fact.text}` };
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

async function readModel(home: string): Promise<string | undefined> {
  return readFile(userModelPath(home), "utf8").catch(() => undefined);
}

/** One fact for each id: a killed process may leave a line in two files. */
function unique(facts: readonly Fact[]): readonly Fact[] {
  return [...new Map(facts.map((fact) => [fact.id, fact])).values()];
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

async function writeModel(home: string, facts: readonly Fact[], before: string | undefined): Promise<void> {
  const text = formatUserModel(facts, before);
  if (text === before) return;
  if (text === undefined) await rm(userModelPath(home), { force: true });
  else await replaceFile(userModelPath(home), text);
}

type MergedBatch = { readonly facts: readonly Fact[]; readonly changes: readonly LearningChange[] };

/** Rules of the user come first, then the user's other words, then the output of tools. */
function mergeAll(
  facts: readonly Fact[],
  { origin, admitted, rejected }: Batch,
  forgotten: ReadonlySet<string>,
): MergedBatch {
  const weight = ({ isExplicit, by }: Admitted): number => Number(isExplicit) + Number(by === "user");
  const ordered = admitted.toSorted((one, other) => weight(other) - weight(one));
  const changes: LearningChange[] = [];
  const left: Rejection[] = [...rejected];
  let now = facts;
  let count = facts.filter(({ evidence }) => evidence.at(0)?.startsWith(`${origin.sessionId}:`)).length;
  for (const candidate of ordered) {
    if (forgotten.has(`${origin.sessionId}:${candidate.position}`)) continue;
    const merged = merge(now, candidate, origin);
    const isNew = merged.facts.length > now.length;
    if (isNew && count >= MAX_FACTS) {
      left.push({ target: rejectionId(candidate.text), text: candidate.text, reason: "the session has enough facts" });
      continue;
    }
    if (isNew) count += 1;
    now = merged.facts;
    changes.push(...merged.changes);
  }
  const spread = promoted(now, origin);
  const evidence = [`${origin.sessionId}:0`];
  const rejections = left.slice(0, MAX_REJECTIONS).map(({ target, text, reason }): LearningChange => {
    return {
      loop: "consolidation",
      actor: "loop",
      op: "reject",
      target,
      before: null,
      after: text,
      evidence,
      reason: `Not kept: ${reason}.`,
    };
  });
  return { facts: spread.facts, changes: [...changes, ...spread.changes, ...rejections] };
}

export function rejectionId(text: string): string {
  return factId("f", "rejected", text);
}

/** A preference of two projects holds everywhere. */
function promoted(facts: readonly Fact[], { at }: Origin): MergedBatch {
  const active = facts.filter((fact) => isActive(fact) && isPreference(fact) && fact.scope !== EVERYWHERE);
  let now = facts;
  const changes: LearningChange[] = [];
  for (const group of groupsOf(active)) {
    const first = group.at(-1);
    if (first === undefined || new Set(group.map(({ scope }) => scope)).size < 2) continue;
    const evidence = group.flatMap((fact) => fact.evidence);
    const seen = group.reduce((sum, fact) => sum + fact.seen, 0);
    const wide: Fact = {
      ...first,
      id: factId("p", EVERYWHERE, first.text),
      scope: EVERYWHERE,
      seen,
      evidence,
      from: at,
    };
    const closed = now.map((fact) => (group.includes(fact) ? { ...fact, until: at, replacedBy: wide.id } : fact));
    now = [...closed.filter(({ id }) => id !== wide.id), wide];
    changes.push(changeOf("add", wide, null, "Two projects show it, so it holds everywhere."));
    changes.push(...group.map((fact) => changeOf("close", fact, fact.text, "It holds everywhere now.")));
  }
  return { facts: now, changes };
}

/** Preferences that say the same, also in other words when they name the same value. */
function groupsOf(facts: readonly Fact[]): readonly (readonly Fact[])[] {
  const groups: { readonly statement: Statement; readonly facts: Fact[] }[] = [];
  for (const fact of facts) {
    const statement = readStatement(fact.text);
    const group = groups.find(({ statement: other }) => {
      const isSameValue = statement.values.size > 0 && similarity(statement.values, other.values) === 1;
      return isSameStatement(statement, other) || (isSameValue && overlap(statement.words, other.words) >= SAME_RULE);
    });
    if (group === undefined) groups.push({ statement, facts: [fact] });
    else group.facts.push(fact);
  }
  return groups.map((group) => group.facts);
}

/** False for an addition that the files had before: another reading of the same session found it again. */
function isNews(before: readonly Fact[]): (change: LearningChange) => boolean {
  const known = new Map(before.map((fact) => [fact.id, fact]));
  return ({ op, target, evidence }) => {
    const fact = known.get(target);
    if (fact === undefined) return true;
    if (op === "add") return !isActive(fact);
    if (op !== "change") return true;
    const session = sessionOf(evidence.at(-1) ?? "");
    return !fact.evidence.some((ref) => sessionOf(ref) === session);
  };
}

function sessionOf(ref: string): string {
  return ref.replace(/:\d+$/, "");
}

/** The facts after an action of the user, and one line for the user. */
function acted(
  facts: readonly Fact[],
  id: string,
  action: LearntAction,
  at: number,
): Change & { readonly message: string } {
  const fact = facts.find((each) => each.id === id);
  if (fact === undefined) return { facts, changes: [], message: "There is no such item any more." };
  const record = (op: LearningChange["op"], reason: string): LearningChange => {
    return { ...changeOf(op, fact, fact.text, reason), actor: "user" };
  };
  const set = (changed: Partial<Fact>): readonly Fact[] =>
    facts.map((each) => (each === fact ? { ...each, ...changed } : each));
  switch (action) {
    case "pin":
      return {
        facts: set({ isPinned: true }),
        changes: [record("pin", "The user pinned it.")],
        message: `Pinned: ${fact.text}`,
      };
    case "unpin":
      return {
        facts: set({ isPinned: false }),
        changes: [record("unpin", "The user unpinned it.")],
        message: `Unpinned: ${fact.text}`,
      };
    case "accept": {
      const accepted = set({ isExplicit: true, proposedFor: undefined, from: at });
      const closed = accepted.map((each) =>
        each.id === fact.proposedFor ? { ...each, until: at, replacedBy: id } : each,
      );
      return { facts: closed, changes: [record("apply", "The user accepted it.")], message: `Kept: ${fact.text}` };
    }
    case "undo": {
      const newer = fact.until === undefined ? fact : facts.find((each) => each.id === fact.replacedBy);
      const left = facts
        .filter((each) => each !== newer)
        .map((each) =>
          each.replacedBy === newer?.id || each === fact ? { ...each, until: undefined, replacedBy: undefined } : each,
        );
      const message = newer === undefined ? `Restored: ${fact.text}` : `Removed: ${newer.text}`;
      return { facts: left, changes: [record("undo", message)], message };
    }
    case "forget":
      return { facts, changes: [], message: "" };
  }
}

function itemOf(fact: Fact, home: string): LearntItem {
  const { id, text, scope, evidence, seen, from, until, isPinned } = fact;
  const open = isShown(fact) ? "active" : "proposed";
  const state = until === undefined ? open : "closed";
  const pin = isPinned ? ("unpin" as const) : ("pin" as const);
  const accept = state === "proposed" ? (["accept"] as const) : [];
  return {
    ...{ id, text, scope, seen, state, loop: "consolidation" },
    kind: isPreference(fact) ? "preference" : "fact",
    reason: `${sourceText(fact)}${state === "active" ? "" : ` ${stateText(fact)}`}`,
    sessions: [...new Set(evidence.map(sessionOf))],
    at: until ?? from,
    used: 0,
    pinned: isPinned,
    path: join(learningFolder(home), "entities", `${entitySlug(fact.subject)}.md`),
    actions: state === "closed" ? ["undo", "forget"] : ["undo", "forget", pin, ...accept],
  };
}

function sourceText(fact: Fact): string {
  if (fact.source === "tool") return "A tool's output shows it.";
  if (isEdited(fact)) return "You wrote it.";
  return fact.isExplicit ? "You stated it." : "Your words show it.";
}

function stateText({ until, proposedFor }: Fact): string {
  if (until !== undefined) return `It held until ${new Date(until).toISOString().slice(0, 10)}.`;
  return proposedFor === undefined ? "It counts when it is seen again." : "It would replace a line of yours.";
}

function episodeItem(path: string, episode: Episode): LearntItem {
  const { sessionId, summary, cwd, endedAt } = episode;
  return {
    ...{ id: `e-${sessionId}`, loop: "consolidation", kind: "episode", text: summary, scope: cwd, path },
    ...{ reason: "Summary of a session.", sessions: [sessionId], at: endedAt, seen: 1, used: 0 },
    ...{ state: "active", pinned: false, actions: ["forget"] },
  };
}

/** The episode without sentences and lines that say the same or hold the fact's value. */
function withoutFact(episode: Episode, { text }: Fact): Episode {
  const { values, words } = readStatement(text);
  const tells = (line: string): boolean => {
    const lower = line.toLowerCase();
    if (values.size > 0 && [...values].every((value) => lower.includes(value))) return true;
    return similarity(readStatement(line).words, words) >= 0.6;
  };
  return {
    ...episode,
    summary: episode.summary
      .split(/(?<=[.!?])\s+|\n+/)
      .filter((sentence) => !tells(sentence))
      .join("\n"),
    firstMessage: tells(episode.firstMessage) ? "" : episode.firstMessage,
    corrections: episode.corrections.filter((line) => !tells(line)),
    commands: episode.commands.filter(({ command }) => !tells(command)),
  };
}
