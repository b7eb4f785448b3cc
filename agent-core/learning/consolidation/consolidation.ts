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
import { oneLine } from "../../platform/one-line.ts";
import { secretsOf } from "../../providers/redact.ts";
import { readEntries } from "../../sessions/read-journal.ts";
import { type Episode, episodeOf, type ModelFields, writeEpisode } from "../episodes.ts";
import { type Fact, factId, holdsIn, isActive, isPreference, waits } from "../facts.ts";
import { usedItems, withoutLearnt } from "../learnt-context.ts";
import type { Loop, LoopPorts } from "../loop.ts";
import { type Transcript, type TranscriptMessage, transcriptOf } from "../transcript.ts";
import { type Candidate, statedCandidates } from "./candidates.ts";
import { type EndedSession, EndedSessions, MAX_TRIES, type Mark } from "./ended-sessions.ts";
import { extractionRequest, type Known, parseExtraction, sourcesOf } from "./extraction.ts";
import { FactStore } from "./fact-store.ts";
import { type Admitted, Gates, safeSummary } from "./gates.ts";
import { type Rejection, rejectionId } from "./merge-batch.ts";

const MEMORY_TARGETS = ["memory", "project", "user"] as const;
/** Known facts that the model gets, so that it can name those that changed. */
const MAX_KNOWN = 15;
/** Part of a message in the notification. Characters. */
const SHOWN_CHARS = 100;
const MINUTE_MS = 60_000;
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

  constructor(ports: LoopPorts) {
    this.#ports = ports;
    const { home, clock, isOpen, settings } = ports;
    const idleMs = (): number => settings().sessionIdleMinutes * MINUTE_MS;
    this.#ended = new EndedSessions({ home, isOpen, idleMs, now: () => clock.now() });
    this.store = new FactStore({ ...ports, uses: () => this.#ended.uses() });
  }

  /** One piece of one session. */
  async doNext(signal: AbortSignal): Promise<boolean> {
    const hasModel = (): Promise<boolean> => this.#ports.model.isAvailable().catch(() => false); // such as without a key
    const session = await this.#ended.next(hasModel);
    if (session === undefined) return false;
    const transcript = transcriptOf(session.id, await readEntries(session.path));
    signal.throwIfAborted();
    if (session.due === "code") await this.#keepFacts(session, transcript);
    else await this.#askModel(session, transcript, signal);
    return true;
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
    const isRepeated = session.mark?.state === "begun";
    const used = usedItems(transcript, await this.store.read());
    if (isAsked || origin === "cron") {
      await this.#writeEpisode(episode);
      await this.#mark(session, { messages, state: isAsked ? state : "done", tries, used });
      return;
    }
    await this.#mark({ ...session, size: 0 }, { messages, state: "begun", tries, used });
    await this.#writeEpisode(episode);
    const added = await this.#commit(transcript, statedCandidates(transcript), isRepeated);
    await this.#mark(session, { messages, state, tries, used, added: added.length });
  }

  async #askModel(session: EndedSession, transcript: Transcript, signal: AbortSignal): Promise<void> {
    const { model } = this.#ports;
    const known = await this.#known(transcript);
    const request = extractionRequest(transcript, known, secretsOf(process.env));
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
    const added = await this.#commit(transcript, extracted.candidates, true);
    await this.#completeEpisode(transcript, extracted.fields);
    await this.#mark(session, { messages, state: "done", tries, added: before + added.length });
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
  async #commit(
    transcript: Transcript,
    candidates: readonly Candidate[],
    isRepeated: boolean,
  ): Promise<readonly Fact[]> {
    const { cwd, sessionId, endedAt } = transcript;
    const name = basename(cwd);
    const gates = new Gates({
      sources: sourcesOf(transcript),
      known: [withoutLearnt(transcript.systemPrompt), ...(await this.#notes(transcript)).map(({ text }) => text)],
      secrets: secretsOf(process.env),
      project: name,
    });
    const admitted: Admitted[] = [];
    const rejected: Rejection[] = [];
    for (const candidate of candidates) {
      const checked = gates.check(candidate);
      if (checked.ok) admitted.push(checked.candidate);
      else rejected.push(rejection(candidate, checked.reason));
    }
    if (admitted.length === 0 && rejected.length === 0) return [];
    const origin = { sessionId, project: cwd, name, at: endedAt };
    const written = await this.store.commit({ origin, admitted, rejected, isRepeated });
    const added = written.filter((fact) => !waits(fact));
    const corrected = await this.#correctMemory(transcript, admitted);
    const message = [...(added.length > 0 ? [learntLine(added)] : []), ...corrected].join(" ");
    if (message !== "") {
      this.#ports.notify(
        message,
        added.map(({ id }) => id),
      );
    }
    return added;
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
    mark: Pick<Mark, "messages" | "state" | "tries"> & Partial<Pick<Mark, "added" | "used">>,
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

/** Arguments of the agent's calls. */
function actedIn({ messages }: Transcript): string {
  return messages
    .flatMap(({ message }) => (message.role === "assistant" ? (message.tool_calls ?? []) : []))
    .map(({ function: call }) => call.arguments)
    .join("\n");
}

/** A rejected secret or injection leaves no text behind. */
function rejection({ text }: Candidate, reason: string): Rejection {
  const isHarmful = /\b(?:secret|attempt|order|command|hidden|markup|instructions|scan)\b/.test(reason);
  return { target: rejectionId(text), text: isHarmful ? null : text.slice(0, 200), reason };
}

function learntLine(added: readonly Fact[]): string {
  const [first] = added;
  if (first === undefined || added.length > 1) return `Learnt: ${added.length} things from a session.`;
  return `Learnt: ${oneLine(first.text, SHOWN_CHARS)}`;
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
