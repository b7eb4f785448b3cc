/**
 * Consolidation: what an ended session leaves behind. First the episode and the user's own rules, by code; then one question
 * to a model. Each piece is written under its watermark, so that nothing is lost or counted twice.
 */
import { basename } from "node:path";
import { memoriesFolder } from "../../config/home.ts";
import { Memory } from "../../memory/memory.ts";
import { contentWords, textKey } from "../../memory/statement.ts";
import { typedText } from "../../messages/message.ts";
import { counted } from "../../platform/counted.ts";
import { messageOf } from "../../platform/errors.ts";
import { parseJson } from "../../platform/json.ts";
import { oneLine } from "../../platform/one-line.ts";
import { secretsOf } from "../../providers/redact.ts";
import { readEntries } from "../../sessions/read-journal.ts";
import { type Episode, episodeOf, type ModelFields, writeEpisode } from "../episodes.ts";
import { type Fact, factId, holdsIn, isActive, isPreference, waits } from "../facts.ts";
import { isFirstOf, usedItems, withoutLearnt } from "../learnt-context.ts";
import type { Loop, LoopPorts } from "../loop.ts";
import { holdsAtCitation } from "../receipts.ts";
import { breaks, partsOf } from "../rule-checks.ts";
import { type Transcript, type TranscriptMessage, transcriptOf } from "../transcript.ts";
import { type EndedSession, EndedSessions, MAX_TRIES, type Mark } from "./ended-sessions.ts";
import {
  type Candidate,
  type Extracted,
  extractionRequest,
  type Known,
  parseExtraction,
  sourcesOf,
} from "./extraction.ts";
import { FactStore } from "./fact-store.ts";
import { type Admitted, Gates, safeSummary } from "./gates.ts";
import { besides } from "./merge.ts";
import { type Rejection, rejectionId } from "./merge-batch.ts";

const MEMORY_TARGETS = ["memory", "project", "user"] as const;
/** Known facts that the model gets, so that it can name those that changed. */
const MAX_KNOWN = 30;
/** Part of a message in the notification. Characters. */
const SHOWN_CHARS = 100;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Part of the user's words that known facts are compared with. Characters. */
const SPOKEN_CHARS = 8_000;

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
  /** Day of the last look at cited files, since 1970. */
  #citedDay: number | undefined;

  constructor(ports: LoopPorts) {
    this.#ports = ports;
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
      await this.#closeUncited();
      return false;
    }
    const transcript = transcriptOf(session.id, await readEntries(session.path));
    signal.throwIfAborted();
    if (session.due === "code") await this.#keepFacts(session, transcript);
    else await this.#askModel(session, transcript, signal);
    return true;
  }

  /** Once a day: closes facts whose cited file no longer shows them. */
  async #closeUncited(): Promise<void> {
    const day = Math.floor(this.#ports.clock.now() / DAY_MS);
    if (day === this.#citedDay) return;
    this.#citedDay = day;
    const facts = (await this.store.read()).filter((fact) => isActive(fact) && fact.cites !== undefined);
    const holds = await Promise.all(facts.map(holdsAtCitation));
    await this.store.close(
      new Map(facts.flatMap(({ id, cites }, at) => (holds[at] ? [] : [[id, `${cites} no longer says it.`]]))),
    );
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
    if (isAsked || origin === "cron") {
      await this.#writeEpisode(episode);
      await this.#mark(session, { messages, state: isAsked ? state : "done", tries, used });
      return;
    }
    await this.#mark({ ...session, size: 0 }, { messages, state: "begun", tries, used });
    await this.#writeEpisode(episode);
    await this.#mark(session, { messages, state, tries, used });
  }

  async #askModel(session: EndedSession, transcript: Transcript, signal: AbortSignal): Promise<void> {
    const { model } = this.#ports;
    const known = await this.#known(transcript);
    const request = extractionRequest(transcript, known, secretsOf(process.env));
    await this.#announceCost();
    const answer = await model.ask("consolidation", request, signal);
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
    const added = await this.#commit(transcript, extracted);
    await this.#completeEpisode(transcript, extracted.fields);
    const { corrections } = extracted;
    const measured = { cwd: transcript.cwd, ...(corrections !== undefined && { corrections }) };
    await this.#mark(session, { messages, state: "done", tries, added: before + added.length, ...measured });
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

  async #completeEpisode(transcript: Transcript, fields: ModelFields): Promise<void> {
    const episode = safeEpisode(transcript);
    if (episode === undefined) return;
    const summary = safeSummary(fields.summary, sourcesOf(transcript), actedIn(transcript));
    await this.#writeEpisode(episode, { ...fields, summary: summary || episode.summary });
  }

  /** Keeps an episode of which the user had anything forgotten, so that nothing of it returns. */
  async #writeEpisode(episode: Episode, fields?: ModelFields): Promise<void> {
    if (await this.store.hasForgotten(episode.sessionId)) return;
    await writeEpisode(this.#ports.home, episode, fields);
  }

  /** Checks the candidates and writes what passes. */
  async #commit(transcript: Transcript, { candidates, refuted }: Extracted): Promise<readonly Fact[]> {
    const { cwd, sessionId, endedAt } = transcript;
    const name = basename(cwd);
    const gates = new Gates({
      sources: sourcesOf(transcript),
      known: [withoutLearnt(transcript.systemPrompt), ...(await this.#notes(transcript)).map(({ text }) => text)],
      secrets: secretsOf(process.env),
      project: name,
      proven: provenIn(transcript),
    });
    const admitted: Admitted[] = [];
    const rejected: Rejection[] = [];
    for (const each of candidates) {
      const candidate = withFittingCheck(each, transcript);
      const checked = gates.check(candidate);
      if (checked.ok) admitted.push(checked.candidate);
      else rejected.push(rejection(candidate, checked.reason));
    }
    const against = await this.#rejectedLines(transcript, refuted);
    if (admitted.length === 0 && rejected.length === 0 && against.size === 0) return [];
    const origin = { sessionId, project: cwd, name, at: endedAt };
    const written = await this.store.commit({ origin, admitted, rejected, refuted: against, isRepeated: true });
    const added = written.filter((fact) => !waits(fact));
    const corrected = await this.#correctMemory(transcript, admitted);
    const now = added.length === 0 ? [] : await this.store.read();
    const message = [...(added.length > 0 ? [learntLine(added, now)] : []), ...corrected].join(" ");
    if (message !== "") {
      this.#ports.notify(
        message,
        added.map(({ id }) => id),
      );
    }
    return added;
  }

  /** Lines of the session's prompt whose value the agent used directly before the user's words against it. */
  async #rejectedLines(transcript: Transcript, refuted: Extracted["refuted"]): Promise<ReadonlyMap<string, string>> {
    if (refuted.length === 0) return new Map();
    const facts = await this.store.read();
    const used = new Set(usedItems(transcript, facts));
    const isFollowed = ({ id, quote }: Extracted["refuted"][number]): boolean => {
      const value = facts.find((fact) => fact.id === id)?.value;
      return used.has(id) && value !== undefined && actedBefore(transcript, quote).includes(value);
    };
    return new Map(refuted.filter(isFollowed).map(({ id, quote }) => [id, oneLine(quote, SHOWN_CHARS)]));
  }

  /**
   * Removes notes that the agent wrote and that the model names as replaced by the user's words. A line of the user's own
   * stays. Resolves to sentences for the user.
   */
  async #correctMemory(transcript: Transcript, admitted: readonly Admitted[]): Promise<readonly string[]> {
    const { cwd, sessionId } = transcript;
    const named = admitted.flatMap(({ by, supersedes }) =>
      by === "user" && supersedes !== undefined ? [supersedes] : [],
    );
    if (named.length === 0) return [];
    const notes = (await this.#notes(transcript)).filter(({ id, text }) => {
      return named.some((each) => each === id || textKey(each) === textKey(text));
    });
    const lines: string[] = [];
    for (const { id, text, target, isOurs } of notes) {
      const change = { action: "remove", oldText: text } as const;
      const origin = { by: "learning", sessionId, callId: id } as const;
      const done = isOurs && (await this.#memoryOf(cwd).change(target, change, origin)).ok;
      lines.push(
        done ? `Replaced in the memory: ${oneLine(text, SHOWN_CHARS)} (/memory undo restores it)` : ownLine(text),
      );
    }
    return lines;
  }

  #memoryOf(cwd: string): Memory {
    const { home, clock } = this.#ports;
    return new Memory({ folder: memoriesFolder(home), now: () => clock.now() }).forProject(cwd);
  }

  /** Active facts of the session's project and of the user, those first that share words with the session. */
  async #related({ cwd, folders, messages }: Transcript): Promise<readonly Fact[]> {
    const facts = (await this.store.read()).filter((fact) => isActive(fact) && holdsIn(fact, [cwd, ...folders]));
    if (facts.length === 0) return facts;
    const spoken = new Set(contentWords(messages.map(spokenIn).join("\n").slice(-SPOKEN_CHARS)));
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
      ...(await this.#notes(transcript)).map(({ id, text }) => ({ id, about: "memory", text })),
    ];
  }

  /** Notes of the memory. */
  async #notes({ cwd }: Transcript) {
    const memory = this.#memoryOf(cwd);
    const read = MEMORY_TARGETS.map(async (target) =>
      (await memory.entries(target)).map(({ text, write }) => {
        const isOurs = write !== undefined && write.by !== "user";
        return { id: `m-${factId("f", target, text).slice(2)}`, text, target, isOurs };
      }),
    );
    const notes = await Promise.all(read).catch((error: unknown) => {
      this.#ports.log(`learning: the memory cannot be read: ${messageOf(error)}`);
      return [];
    });
    return notes.flat();
  }

  #mark(
    { id, size, mark: before }: EndedSession,
    mark: Pick<Mark, "messages" | "state" | "tries"> & Partial<Pick<Mark, "added" | "used" | "cwd" | "corrections">>,
  ): Promise<void> {
    return this.#ended.mark({ session: id, size, added: 0, used: before?.used ?? [], ...mark });
  }
}

function safeEpisode(transcript: Transcript): Episode | undefined {
  const episode = episodeOf(transcript);
  return episode && { ...episode, summary: safeSummary(episode.summary, sourcesOf(transcript), actedIn(transcript)) };
}

/** The words that the user typed. */
function spokenIn({ message }: TranscriptMessage): string {
  return message.role === "user" && message.synthetic !== true ? typedText(message.content).slice(0, SPOKEN_CHARS) : "";
}

/** Arguments of the calls between the user's message with these words and the one before it; empty without such a message. */
function actedBefore(transcript: Transcript, words: string): string {
  const { messages } = transcript;
  const at = messages.findLastIndex((one) => spokenIn(one).includes(words));
  const before = messages.slice(0, Math.max(0, at)).findLastIndex((one) => spokenIn(one) !== "");
  return at < 0 ? "" : actedIn({ messages: messages.slice(before, at) });
}

/** Arguments of the agent's calls. */
function actedIn({ messages }: Pick<Transcript, "messages">): string {
  return messages
    .flatMap(({ message }) => (message.role === "assistant" ? (message.tool_calls ?? []) : []))
    .map(({ function: call }) => call.arguments)
    .join("\n");
}

/** A rejected secret or injection leaves no text behind. */
function rejection({ text }: Candidate, reason: string): Rejection {
  const isHarmful = /\b(?:secret|private|attempt|order|command|hidden|markup|instructions|scan)\b/.test(reason);
  return { target: rejectionId(text), text: isHarmful ? null : text.slice(0, 200), reason };
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

/** Commands that passed, in a session without an edit that the user took back. */
function provenIn({ happened }: Transcript): ReadonlySet<string> {
  const isRejected = happened.some((entry) => entry.type === "verdict" && entry.outcome !== "kept");
  const passed = happened.flatMap((entry) =>
    entry.type === "tool" && entry.command?.exit === 0 ? [entry.command.text.trim()] : [],
  );
  return new Set(isRejected ? [] : passed);
}

/**
 * The candidate without a check that disagrees with the session: the last call that it reads must pass, and of the calls before
 * the user's words one must fail.
 */
function withFittingCheck(candidate: Candidate, { messages, cwd }: Transcript): Candidate {
  const { check, position } = candidate;
  if (check === undefined) return candidate;
  const verdicts = messages.flatMap(({ message, position: at }) =>
    message.role !== "assistant"
      ? []
      : (message.tool_calls ?? []).flatMap(({ function: { arguments: json } }) => {
          const isBroken = breaks(
            check,
            partsOf(parseJson(json), cwd, () => true),
          );
          return isBroken === undefined ? [] : [{ isBroken, isBefore: position !== undefined && at < position }];
        }),
  );
  const before = verdicts.filter(({ isBefore }) => isBefore);
  const after = verdicts.filter(({ isBefore }) => !isBefore);
  const fits = (before.length === 0 || before.some(({ isBroken }) => isBroken)) && after.at(-1)?.isBroken !== true;
  return fits ? candidate : { ...candidate, check: undefined };
}

/** A line of the memory that the user wrote, and that the model names as replaced. */
function ownLine(text: string): string {
  return `Your own note says otherwise, and stays: ${oneLine(text, SHOWN_CHARS)}`;
}

/** Only the built-in interpreter answered: its answers teach nothing. */
function isOffline({ own }: Transcript): boolean {
  const models = new Set(own.flatMap((entry) => (entry.type === "usage" ? [entry.model] : [])));
  return models.size === 1 && models.has("offline");
}
