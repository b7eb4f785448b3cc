/**
 * Consolidation: what an ended session leaves behind. First the episode and the user's own rules, by code; then one question
 * to a model. Each piece is written under its watermark, so that nothing is lost or counted twice.
 */
import { basename } from "node:path";
import { memoriesFolder } from "../../config/home.ts";
import { Memory } from "../../memory/memory.ts";
import { contentWords, contradicts, readStatement } from "../../memory/statement.ts";
import { typedText } from "../../messages/message.ts";
import { counted } from "../../platform/counted.ts";
import { messageOf } from "../../platform/errors.ts";
import { oneLine } from "../../platform/one-line.ts";
import { secretsOf } from "../../providers/redact.ts";
import { readEntries } from "../../sessions/read-journal.ts";
import { type Episode, episodeOf, type ModelFields, writeEpisode } from "../episodes.ts";
import { type Fact, holdsIn, isActive } from "../facts.ts";
import { usedItems, withoutLearnt } from "../learnt-context.ts";
import type { Loop, LoopPorts } from "../loop.ts";
import { type Transcript, type TranscriptMessage, transcriptOf } from "../transcript.ts";
import { type Candidate, correctingPositions, statedCandidates, undoingPositions } from "./candidates.ts";
import { type EndedSession, EndedSessions, MAX_TRIES, type Mark } from "./ended-sessions.ts";
import { extractionRequest, parseExtraction, sourcesOf } from "./extraction.ts";
import { FactStore } from "./fact-store.ts";
import { type Admitted, Gates, safeSummary } from "./gates.ts";
import { type Rejection, rejectionId } from "./merge-batch.ts";

const MEMORY_TARGETS = ["memory", "project", "user"] as const;
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
    const idleMs = (): number => settings().session_idle_minutes * MINUTE_MS;
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
    const known = await this.#related(transcript);
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
    const summary = safeSummary(fields.summary, sourcesOf(transcript));
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
      known: [withoutLearnt(transcript.systemPrompt), ...(await this.#memory(transcript))],
      learnt: (await this.#related(transcript)).map(({ text }) => text),
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
    const corrections = new Set([...correctingPositions(transcript), ...undoingPositions(transcript)]);
    const origin = { sessionId, project: cwd, name, at: endedAt, acted: actedIn(transcript), corrections };
    const added = await this.store.commit({ origin, admitted, rejected, isRepeated });
    if (added.length > 0) {
      const corrected = await this.#correctMemory(transcript, added);
      this.#ports.notify(
        `${learntLine(added)}${corrected}`,
        added.map(({ id }) => id),
      );
    }
    return added;
  }

  /**
   * Replaces notes that the agent wrote and that a new fact contradicts. A line of the user's own stays, and only no prompt
   * has it. Resolves to sentences for the user.
   */
  async #correctMemory({ cwd, sessionId }: Transcript, added: readonly Fact[]): Promise<string> {
    const memory = this.#memoryOf(cwd);
    const lines: string[] = [];
    for (const { id, text, from } of added) {
      const statement = readStatement(text);
      for (const target of MEMORY_TARGETS) {
        const entries = await memory.entries(target).catch(() => []); // `#memory` has reported it
        const rivals = entries.filter((entry) => contradicts(readStatement(entry.text), statement));
        const older = await memory.olderThan(target, new Map(rivals.map((rival) => [rival.text, from])));
        for (const rival of rivals.filter((each) => older.has(each.text))) {
          const isOurs = rival.write !== undefined && rival.write.by !== "user";
          const change = { action: "replace", oldText: rival.text, content: text } as const;
          const done = isOurs && (await memory.change(target, change, { by: "learning", sessionId, callId: id })).ok;
          lines.push(done ? ` It replaces a note of the memory; /memory undo restores it.` : ownLine(rival.text));
        }
      }
    }
    return lines.join("");
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

  async #memory({ cwd }: Transcript): Promise<readonly string[]> {
    const memory = this.#memoryOf(cwd);
    const read = await Promise.all(MEMORY_TARGETS.map((target) => memory.read(target))).catch((error: unknown) => {
      this.#ports.log(`learning: the memory cannot be read: ${messageOf(error)}`);
      return [];
    });
    return read.flat();
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
  return episode && { ...episode, summary: safeSummary(episode.summary, sourcesOf(transcript)) };
}

/** The words that the user typed. */
function spokenIn({ message }: TranscriptMessage): string {
  return message.role === "user" && message.synthetic !== true ? typedText(message.content).slice(0, SPOKEN_CHARS) : "";
}

/** Words and calls of the agent, in lower case. */
function actedIn({ messages }: Transcript): string {
  const texts = messages.flatMap(({ message }) => {
    if (message.role !== "assistant") return [];
    return [message.content ?? "", ...(message.tool_calls ?? []).map(({ function: call }) => call.arguments)];
  });
  return texts.join("\n").toLowerCase();
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

/** A line of the memory that the user wrote, and that is outdated. */
function ownLine(text: string): string {
  return ` Your line of the memory is older and no longer used: ${oneLine(text, SHOWN_CHARS)}`;
}

/** Only the built-in interpreter answered: its answers teach nothing. */
function isOffline({ own }: Transcript): boolean {
  const models = new Set(own.flatMap((entry) => (entry.type === "usage" ? [entry.model] : [])));
  return models.size === 1 && models.has("offline");
}
