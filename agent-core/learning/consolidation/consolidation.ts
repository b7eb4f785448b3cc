/**
 * Consolidation: what an ended session leaves behind. First the episode and the user's own rules, by code; then one question
 * to a model. Each piece is written under its watermark, so that nothing is lost or counted twice.
 */
import { basename } from "node:path";
import { contentWords } from "../../memory/statement.ts";
import { counted } from "../../platform/counted.ts";
import { oneLine } from "../../platform/one-line.ts";
import { secretsOf } from "../../providers/redact.ts";
import { readEntries } from "../../sessions/read-journal.ts";
import { follows } from "../call-checks.ts";
import { commandCitation, holdsAtCitation } from "../citations.ts";
import { type Episode, episodeOf, type ModelFields, withCorrections } from "../episode.ts";
import { writeEpisode } from "../episode-files.ts";
import { type Fact, holdsIn, isActive, isEdited, isPreference, waits } from "../facts.ts";
import { isFirstOf, usedItems, withoutLearnt } from "../learnt-context.ts";
import type { Loop, LoopPorts } from "../loop.ts";
import { harms, receiptOf } from "../receipts.ts";
import { breaks, checkOfValue, partsOf, placesKept } from "../rule-checks.ts";
import { type Transcript, transcriptOf } from "../transcript.ts";
import { type EndedSession, EndedSessions, MAX_TRIES, type Mark } from "./ended-sessions.ts";
import { type Candidate, type Extracted, extractionRequest, type Known, parseExtraction } from "./extraction.ts";
import { FactStore } from "./fact-store.ts";
import { type Admitted, type Checked, Gates, safeSummary, withoutRemarks } from "./gates.ts";
import { MemoryNotes } from "./memory-notes.ts";
import { besides, seenAgain } from "./merge.ts";
import { type Rejection, rejectionId } from "./merge-batch.ts";
import { actedIn, afterObjection, callsIn, provenIn, sourcesOf, spokenIn, unquoted } from "./session-evidence.ts";

/** Known facts that the model gets, so that it can name those that changed. */
const MAX_KNOWN = 30;
/** Part of a message in the notification. Characters. */
const SHOWN_CHARS = 100;
/** Part of the user's words that known facts are compared with. Characters. */
const COMPARED_CHARS = 8_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A line that waits for the user's yes closes unanswered after this time, which is long enough for a holiday. */
const WAIT_DAYS = 30;

export async function consolidation(ports: LoopPorts): Promise<Loop> {
  const loop = new Consolidation(ports);
  return Promise.resolve({
    work: { loop: "consolidation", doNext: (signal) => loop.doNext(signal) },
    store: loop.store,
    lastRun: () => loop.lastRun(),
  });
}

class Consolidation {
  readonly store: FactStore;
  readonly #ports: LoopPorts;
  readonly #ended: EndedSessions;
  readonly #notes: MemoryNotes;
  /** Day of the last look at all lines, since 1970. */
  #citedDay: number | undefined;

  constructor(ports: LoopPorts) {
    this.#ports = ports;
    this.#notes = new MemoryNotes(ports);
    const { home, clock, isOpen, settings } = ports;
    const idleMs = (): number => settings().sessionIdleMinutes * MINUTE_MS;
    this.#ended = new EndedSessions({ home, isOpen, idleMs, now: () => clock.now() });
    this.store = new FactStore({ ...ports, uses: () => this.#ended.uses(), marks: () => this.#ended.marks() });
  }

  /** One piece of one session. */
  async doNext(signal: AbortSignal): Promise<boolean> {
    const hasModel = (): Promise<boolean> => this.#ports.model.isAvailable().catch(() => false); // such as without a key
    const session = await this.#ended.next(hasModel);
    if (session === undefined) {
      await this.#closeUnfit();
      return false;
    }
    const transcript = transcriptOf(session.id, await readEntries(session.path));
    signal.throwIfAborted();
    if (session.due === "code") await this.#keepFacts(session, transcript);
    else await this.#askModel(session, transcript, signal);
    return true;
  }

  /** Once a day: closes facts whose cited file no longer shows them, unanswered ones, and lines with which sessions go worse. */
  async #closeUnfit(): Promise<void> {
    const day = Math.floor(this.#ports.clock.now() / DAY_MS);
    if (day === this.#citedDay) return;
    this.#citedDay = day;
    const facts = (await this.store.read()).filter((fact) => isActive(fact) && !fact.isPinned && !isEdited(fact));
    const holds = await Promise.all(facts.map(holdsAtCitation));
    const marks = [...(await this.#ended.marks()).values()];
    // A session may end long before it is read, and the user can restore a fact.
    const records = (await this.#ports.ledger.read()).filter(({ op, actor }) => op === "add" || actor === "user");
    const learnt = new Map(records.map(({ target, at }) => [target, at]));
    const reasonOf = (fact: Fact, at: number): string | undefined => {
      if (!holds[at]) return `${fact.cites} no longer says it.`;
      if (waits(fact) && (learnt.get(fact.id) ?? fact.from) < (day - WAIT_DAYS) * DAY_MS)
        return `You did not confirm it in ${WAIT_DAYS} days.`;
      return harms(fact, marks) ? `Sessions went better without it. ${receiptOf(fact, marks)}` : undefined;
    };
    const reasons = facts.map((fact, at) => [fact.id, reasonOf(fact, at)] as const);
    await this.store.close(new Map(reasons.flatMap(([id, reason]) => (reason === undefined ? [] : [[id, reason]]))));
  }

  async lastRun(): Promise<{ readonly at: number; readonly result: string } | undefined> {
    const marks = [...(await this.#ended.marks()).values()].filter(
      ({ state }) => state === "facts" || state === "done",
    );
    const last = marks.toSorted((one, other) => other.at - one.at)[0];
    if (last === undefined) return undefined;
    const added = marks.reduce((sum, mark) => sum + mark.added, 0);
    return { at: last.at, result: `${counted(marks.length, "session")} read, ${counted(added, "fact")} learnt.` };
  }

  /** Keeps the episode and the rules that the user stated, without a model. */
  async #keepFacts(session: EndedSession, transcript: Transcript): Promise<void> {
    const episode = safeEpisode(transcript);
    const { origin } = transcript;
    const messages = episode?.messages ?? 0;
    const isOurs = origin === "user" || origin === "cron";
    if (episode === undefined || !isOurs || isOffline(transcript)) {
      await this.#mark(session, { messages, state: "skipped", tries: 0 });
      return;
    }
    // Verdicts and names that come later change the episode only.
    const isAsked = session.mark !== undefined && session.mark.messages === messages && session.mark.state !== "begun";
    const state = isAsked && session.mark !== undefined ? session.mark.state : "facts";
    const tries = isAsked ? (session.mark?.tries ?? 0) : 0;
    const used = usedItems(transcript, await this.store.read());
    await this.#limitChecks(transcript);
    if (isAsked || origin === "cron") {
      await this.#writeEpisode(episode);
      await this.#mark(session, { messages, state: isAsked ? state : "done", tries, used });
      return;
    }
    await this.#mark({ ...session, size: 0 }, { messages, state: "begun", tries, used });
    await this.#writeEpisode(episode);
    await this.#mark(session, { messages, state, tries, used });
  }

  /** Takes from each rule's check the places where the user kept an edit that breaks it. */
  async #limitChecks({ messages, happened, cwd, folders }: Transcript): Promise<void> {
    const verdicts = new Map(
      happened.flatMap((entry) => (entry.type === "verdict" ? [[entry.path, entry.outcome] as const] : [])),
    );
    const kept = new Set([...verdicts].flatMap(([path, outcome]) => (outcome === "kept" ? [path] : [])));
    if (kept.size === 0) return;
    const calls = callsIn(messages);
    await this.store.revise((fact) => {
      const { check } = fact;
      if (check === undefined || !isActive(fact) || !holdsIn(fact, [cwd, ...folders])) return fact;
      const places = placesKept(check, calls, { cwd, kept });
      return places.length === 0
        ? fact
        : { ...fact, check: { ...check, except: [...(check.except ?? []), ...places] } };
    });
  }

  /** Counts a session without an objection for the lines that its calls followed. */
  async #confirm({ messages, sessionId, cwd, folders, at }: Transcript): Promise<void> {
    const last = messages.at(-1)?.position ?? 0;
    const parts = callsIn(messages).flatMap((input) => partsOf(input, cwd, isAny));
    await this.store.revise((fact) => {
      const isKnown = isActive(fact) && !waits(fact) && fact.from < at && holdsIn(fact, [cwd, ...folders]);
      return isKnown && follows(fact, parts) ? seenAgain(fact, `${sessionId}:${last}`) : fact;
    });
  }

  async #askModel(session: EndedSession, transcript: Transcript, signal: AbortSignal): Promise<void> {
    const { model } = this.#ports;
    const asked = { known: await this.#known(transcript), secrets: secretsOf(process.env) };
    await this.#announceCost();
    const answer = await model.ask("consolidation", extractionRequest(transcript, asked), signal);
    signal.throwIfAborted();
    const tries = (session.mark?.tries ?? 0) + 1;
    const messages = session.mark?.messages ?? 0;
    const before = session.mark?.added ?? 0;
    const extracted = answer.ok ? parseExtraction(answer.text) : undefined;
    if (extracted === undefined) {
      const problem = answer.ok ? "the model's answer is not what was asked for" : answer.problem;
      this.#ports.log(`learning: session ${session.id}: ${problem} (try ${tries} of ${MAX_TRIES})`);
      await this.#mark(session, { messages, state: "facts", tries, added: before });
      return;
    }
    const first = await this.#check(transcript, extracted.candidates);
    const more = await this.#askAgain(transcript, { ...asked, leftOut: unquoted(transcript, first.quotes) }, signal);
    const all = more && [...extracted.candidates, ...more];
    const checked = all === undefined ? first : await this.#check(transcript, all);
    const added = await this.#commit(transcript, checked, extracted.refuted);
    await this.#completeEpisode(transcript, extracted.fields, checked.remarks);
    const { corrections: named } = extracted.fields;
    const corrections = typeof named === "object" ? named.length : named;
    if (corrections === 0) await this.#confirm(transcript);
    const measured = { cwd: transcript.cwd, ...(corrections !== undefined && { corrections }) };
    await this.#mark(session, { messages, state: "done", tries, added: before + added.length, ...measured });
  }

  /** Asks about sentences of the user that no statement quotes, and what came after: an answer leaves some out. */
  async #askAgain(
    transcript: Transcript,
    asked: Parameters<typeof extractionRequest>[1],
    signal: AbortSignal,
  ): Promise<readonly Candidate[] | undefined> {
    if (asked.leftOut?.length === 0) return undefined;
    const answer = await this.#ports.model.ask("consolidation", extractionRequest(transcript, asked), signal);
    signal.throwIfAborted();
    return answer.ok ? parseExtraction(answer.text)?.candidates : undefined;
  }

  /** Before the first question of a home: its cost, and how to stop it. */
  async #announceCost(): Promise<void> {
    const { home, notify, settings } = this.#ports;
    if (!(await isFirstOf(home, "cost-shown"))) return;
    const limit = settings().dailyTokens.toLocaleString("en");
    notify(
      `Hermes asks your model what to keep of ended sessions, for at most ${limit} tokens a day. \`/learning off\` stops it.`,
      [],
    );
  }

  async #completeEpisode(transcript: Transcript, fields: ModelFields, remarks: readonly string[]): Promise<void> {
    const plain = safeEpisode(transcript);
    if (plain === undefined) return;
    const episode = withCorrections(plain, transcript, fields.corrections);
    const summary = safeSummary(fields.summary, sourcesOf(transcript), actedIn(transcript));
    await this.#writeEpisode(episode, { ...fields, summary: withoutRemarks(summary || episode.summary, remarks) });
  }

  /** Keeps an episode of which the user had anything forgotten, so that nothing of it returns. */
  async #writeEpisode(episode: Episode, fields?: ModelFields): Promise<void> {
    if (await this.store.hasForgotten(episode.sessionId)) return;
    await writeEpisode(this.#ports.home, episode, fields);
  }

  async #check(transcript: Transcript, candidates: readonly Candidate[]): Promise<CheckedCandidates> {
    const notes = await this.#notes.read(transcript);
    const own = notes.filter(({ isOurs }) => isOurs);
    // A note of the agent is no reason against the user's own statement of it.
    const prompt = own.reduce((text, note) => text.replaceAll(note.text, ""), withoutLearnt(transcript.systemPrompt));
    const gates = new Gates({
      sources: sourcesOf(transcript),
      known: [prompt, ...notes.flatMap(({ isOurs, text }) => (isOurs ? [] : [text]))],
      secrets: secretsOf(process.env),
      project: basename(transcript.cwd),
      proven: provenIn(transcript),
    });
    const results = candidates.map((each) => {
      const candidate = withFittingCheck(each, transcript);
      return { candidate, checked: gates.check(candidate) };
    });
    return {
      admitted: results.flatMap(({ checked }) => (checked.ok ? [checked.candidate] : [])),
      rejected: results.flatMap(({ candidate, checked }) => (checked.ok ? [] : [rejection(candidate, checked)])),
      quotes: results.flatMap(({ candidate, checked }) => {
        return checked.ok || checked.kind !== "unproven" ? [candidate.quote] : [];
      }),
      remarks: results.flatMap(({ candidate: { isSensitive, isRule, quote } }) => {
        return isSensitive === true || isRule === false ? [quote] : [];
      }),
    };
  }

  /** Writes what passed. */
  async #commit(
    transcript: Transcript,
    { admitted, rejected }: CheckedCandidates,
    refuted: Extracted["refuted"],
  ): Promise<readonly Fact[]> {
    const { cwd, sessionId, endedAt } = transcript;
    const name = basename(cwd);
    const against = await this.#rejectedLines(transcript, refuted, admitted);
    if (admitted.length + rejected.length + refuted.length === 0) return [];
    const origin = { sessionId, project: cwd, name, at: endedAt };
    const cited = await Promise.all(admitted.map((each) => withOwnCitation(each, cwd)));
    const written = await this.store.commit({ origin, admitted: cited, rejected, refuted: against });
    const added = written.filter((fact) => !waits(fact));
    const now = await this.store.read();
    const corrected = await this.#notes.settle(transcript, { admitted, refuted }, now);
    const message = [...(added.length > 0 ? [learntLine(added, now)] : []), ...corrected].join(" ");
    if (message !== "") {
      this.#ports.notify(
        message,
        added.map(({ id }) => id),
      );
    }
    return added;
  }

  /** Lines of the session's prompt that the model names as rejected, where the agent gave them up, or kept to them and failed. */
  async #rejectedLines(
    transcript: Transcript,
    refuted: Extracted["refuted"],
    admitted: CheckedCandidates["admitted"],
  ): Promise<ReadonlyMap<string, string>> {
    if (refuted.length === 0) return new Map();
    const facts = await this.store.read();
    const used = new Set(usedItems(transcript, facts));
    const isRejected = ({ id, quote: words }: Extracted["refuted"][number]): boolean => {
      const value = facts.find((fact) => fact.id === id)?.value;
      if (!used.has(id) || value === undefined) return false;
      const fate = afterObjection(transcript, { words, value });
      const { position } = transcript.messages.findLast((one) => spokenIn(one).includes(words)) ?? {};
      return fate === "dropped" || (fate === "undone" && admitted.every((each) => each.position !== position));
    };
    return new Map(refuted.filter(isRejected).map(({ id, quote }) => [id, oneLine(quote, SHOWN_CHARS)]));
  }

  /** Active facts of the session's project and of the user, those first that share words with the session. */
  async #related({ cwd, folders, messages }: Transcript): Promise<readonly Fact[]> {
    const isKnown = (fact: Fact): boolean => isActive(fact) && !waits(fact) && holdsIn(fact, [cwd, ...folders]);
    const facts = (await this.store.read()).filter(isKnown);
    if (facts.length === 0) return facts;
    const spoken = new Set(contentWords(messages.map(spokenIn).join("\n").slice(-COMPARED_CHARS)));
    const shared = new Map(
      facts.map((fact) => [fact, contentWords(fact.text).filter((word) => spoken.has(word)).length]),
    );
    return facts.toSorted((one, other) => (shared.get(other) ?? 0) - (shared.get(one) ?? 0));
  }

  /** Facts and notes that the model can name. */
  async #known(transcript: Transcript): Promise<readonly Known[]> {
    const facts = (await this.#related(transcript)).slice(0, MAX_KNOWN);
    return [
      ...facts.map((fact) => ({ id: fact.id, about: isPreference(fact) ? "user" : fact.subject, text: fact.text })),
      ...(await this.#notes.read(transcript)).map(({ id, text }) => ({ id, about: "memory", text })),
    ];
  }

  #mark(
    { id, size, mark: before }: EndedSession,
    mark: Pick<Mark, "messages" | "state" | "tries"> & Partial<Pick<Mark, "added" | "used" | "cwd" | "corrections">>,
  ): Promise<void> {
    return this.#ended.mark({ session: id, size, added: 0, used: before?.used ?? [], ...mark });
  }
}

/** Counts every written file as a new one. */
const isAny = (): boolean => true;

function safeEpisode(transcript: Transcript): Episode | undefined {
  const episode = episodeOf(transcript);
  return episode && { ...episode, summary: safeSummary(episode.summary, sourcesOf(transcript), actedIn(transcript)) };
}

/** Candidates of an answer after the checks. */
type CheckedCandidates = {
  readonly admitted: readonly Admitted[];
  readonly rejected: readonly Rejection[];
  /** Words of the user that the answer considered. */
  readonly quotes: readonly string[];
  /** Words for one task, and private ones. */
  readonly remarks: readonly string[];
};

/** A rejected secret or injection leaves no text behind. */
function rejection({ text }: Candidate, { kind, reason }: Extract<Checked, { ok: false }>): Rejection {
  return { target: rejectionId(text), text: kind === "harmful" ? null : text.slice(0, 200), reason };
}

/** A rule that was said once is on trial: the user is asked. So is one beside another value of the same property. */
function learntLine(added: readonly Fact[], facts: readonly Fact[]): string {
  const [first] = added;
  if (first === undefined || added.length > 1)
    return `Keep these ${added.length} things for later? They came from one session.`;
  const text = oneLine(first.text, SHOWN_CHARS);
  const [other] = besides(first, facts);
  if (other !== undefined) return `Do both hold? ${oneLine(other.text, SHOWN_CHARS)} · ${text}`;
  return isPreference(first) ? `Keep this for later? ${text}` : `Learnt: ${text}`;
}

/** A fact of the user about a program of the project cites the program's own text, which may change unsaid. */
async function withOwnCitation(candidate: Admitted, cwd: string): Promise<Admitted> {
  const { kind, by, value, cites } = candidate;
  if (kind !== "fact" || by === "tool" || value === undefined) return candidate;
  return { ...candidate, cites: (await commandCitation(value, cwd)) ?? cites };
}

/**
 * The candidate with a check that agrees with the session: its last call passes, and of the calls before the user's words one
 * fails, unless the check only forbids. The check of a command that the user only mentions needs calls before and after.
 */
function withFittingCheck(candidate: Candidate, { messages, cwd }: Transcript): Candidate {
  const { position, kind } = candidate;
  const check = kind === "fact" ? checkOfValue(candidate) : candidate.check;
  if (check === undefined) return candidate;
  const verdicts = messages.flatMap((one) => {
    const isBefore = position !== undefined && one.position < position;
    const broken = callsIn([one]).map((input) => breaks(check, partsOf(input, cwd, isAny)));
    return broken.flatMap((isBroken) => (isBroken === undefined ? [] : [{ isBroken, isBefore }]));
  });
  const before = verdicts.filter(({ isBefore }) => isBefore);
  const after = verdicts.filter(({ isBefore }) => !isBefore);
  const isSeen = check.on !== "run" || (before.length > 0 && after.length > 0);
  const isProven = "forbid" in check || before.length === 0 || before.some(({ isBroken }) => isBroken);
  const fits = isProven && after.at(-1)?.isBroken !== true;
  return { ...candidate, check: fits && isSeen ? check : undefined };
}

/** Only the built-in interpreter answered: its answers teach nothing. */
function isOffline({ own }: Transcript): boolean {
  const models = new Set(own.flatMap((entry) => (entry.type === "usage" ? [entry.model] : [])));
  return models.size === 1 && models.has("offline");
}
