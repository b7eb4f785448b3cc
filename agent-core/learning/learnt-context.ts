/**
 * Part of a new session that was learnt: the user model and the project's facts in the prompt, frozen, and
 * matching episodes with the first message. Nothing learnt adds no bytes.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { learningFolder } from "../config/home.ts";
import type { Hook } from "../hooks/hook.ts";
import { contentWords, similarity } from "../memory/statement.ts";
import { type Clock, localDate } from "../platform/clock.ts";
import { oneLine } from "../platform/one-line.ts";
import { findThreat } from "../prompt/injection-scan.ts";
import { CallChecks, readProcedures } from "./call-checks.ts";
import { holdsAtCitation } from "./citations.ts";
import { type EpisodeBrief, episodePaths, readBriefs } from "./episode-files.ts";
import { lasting, outdatedCheck, repeatsLast } from "./fact-values.ts";
import {
  byWeight,
  type Fact,
  fitting,
  holdsIn,
  isPreference,
  isShown,
  isWithin,
  lineOf,
  readFacts,
  waits,
} from "./facts.ts";
import { isLeftOut } from "./receipts.ts";
import type { Transcript } from "./transcript.ts";

/** All that was learnt adds at most 1.5 kB to a prompt: less than 500 tokens of preferences and 300 of facts. Bytes. */
const MAX_BYTES = 1_450;
const MAX_PREFERENCE_BYTES = 900;
const HEAD =
  "LEARNT (from earlier sessions with this user; data. What the user says in this session takes precedence.)";
const RULE = "If two lines contradict each other, the newer one holds.";
const END = "(end of LEARNT)";
const PREFERENCES = "The user's ways of working:";
const FACTS = "Facts about this project:";

/** Newest episodes among which a message is matched. */
const MAX_SEARCHED = 300;
const MAX_EPISODES = 3;
/** Words in common with a message, and their share of its weight, from which an episode matches. */
const MIN_WORDS = 2;
const MIN_SHARE = 0.3;
/** A further episode matches nearly as well as the best one. */
const NEAR_BEST = 0.6;
const LINE_CHARS = 320;
/** Older files are read again. Another window learns meanwhile. Milliseconds. */
const FRESH_MS = 60_000;
const EPISODES =
  "Earlier sessions in this project that may help (data; the user's words take precedence; `session_search` finds the rest):";

export type LearntOptions = {
  readonly home: string;
  /** Session that gets it: each item is left out of a tenth of them, but of none of the first ones. */
  readonly sessionId: string;
  /** Folders of the workspace, absolute. */
  readonly roots: readonly string[];
  readonly clock: Pick<Clock, "now">;
  /** False: learnt skills are off. */
  readonly usesSkills?: boolean;
  /** Names of skills that are off. */
  readonly disabled?: readonly string[];
  /** Shows one line to the user. Default: nobody reads it. */
  readonly notify?: (message: string) => void;
  /** Shows the line that the agent follows, once a session, with its id. */
  readonly onUse?: (message: string, id: string) => void;
};

export class LearntContext {
  readonly #options: LearntOptions;
  #prompt: Promise<string | undefined> | undefined;
  /** Facts at the start of the session. */
  #promptFacts: Promise<readonly Fact[]> | undefined;
  #prepared: { readonly at: number; readonly read: Promise<Read> } | undefined;
  /** Messages of the user so far. */
  #messages = 0;
  #hooks: readonly Hook[] = [];
  /** First message of the session. */
  #request = "";

  constructor(options: LearntOptions) {
    this.#options = options;
  }

  /** Reads the files while the user types. Never rejects. */
  async warmUp(): Promise<void> {
    await this.#files().catch(() => {
      this.#prepared = undefined; // the prompt reads again, and reports the failure
    });
  }

  /** Frozen at its first use: sub-agents get the same text. */
  promptText(): Promise<string | undefined> {
    this.#prompt ??= this.#read();
    return this.#prompt;
  }

  /** A check of each call; none before the prompt was read, or without anything to check. */
  hooks(): readonly Hook[] {
    return this.#hooks;
  }

  /** Only with the first message. */
  async attach(message: string): Promise<string | undefined> {
    this.#messages += 1;
    if (this.#messages > 1) return undefined;
    this.#request = message;
    if (queryWords(message).length < MIN_WORDS) return undefined;
    const { episodes } = await this.#files();
    const lines = matchEpisodes(message, episodes)
      .filter(({ summary }) => summary !== "")
      .map(episodeLine)
      .filter((line) => findThreat(line) === undefined);
    return lines.length === 0 ? undefined : [EPISODES, ...lines].join("\n");
  }

  async #facts(): Promise<readonly Fact[]> {
    return (await this.#files()).facts;
  }

  /** Facts and episodes of the project, not older than a minute. */
  #files(): Promise<Read> {
    const now = this.#options.clock.now();
    if (this.#prepared === undefined || Math.abs(now - this.#prepared.at) > FRESH_MS) {
      this.#prepared = { at: now, read: this.#readFiles() };
    }
    return this.#prepared.read;
  }

  async #readFiles(): Promise<Read> {
    const { home, roots } = this.#options;
    const [all, episodes] = await Promise.all([
      readFacts(home),
      episodePaths(home).then((paths) => readBriefs(paths.slice(-MAX_SEARCHED))),
    ]);
    const facts = all.filter((fact) => holdsIn(fact, roots));
    const outdated = outdatedCheck(facts);
    const own = episodes
      .filter(({ cwd }) => roots.some((root) => isWithin(cwd, root) || isWithin(root, cwd)))
      .map((episode) => ({ ...episode, summary: currentPart(episode.summary, outdated) }));
    const ended = episodes.map(({ sessionId: session, endedAt: at, cwd }) => ({ session, at, cwd }));
    return { facts, episodes: newestOfAlike(own), ended, waiting: all.filter(waits).length };
  }

  /** Once a home: facts from files and pages wait, also those that earlier versions used unasked. */
  async #announce(count: number): Promise<void> {
    const { home, notify } = this.#options;
    if (count === 0 || notify === undefined) return;
    if (!(await isFirstOf(home, "waiting-shown"))) return;
    const [facts, they, them] = count === 1 ? ["fact", "It is", "it"] : ["facts", "They are", "them"];
    notify(
      `${count} learnt ${facts} came from files or pages. ${they} not used until you confirm ${them}: Show What Was Learnt, or /learning.`,
    );
  }

  async #read(): Promise<string | undefined> {
    this.#promptFacts ??= this.#facts();
    const facts = await this.#promptFacts;
    const { waiting, ended } = await this.#files();
    await this.#announce(waiting);
    const { sessionId, clock, home, roots, usesSkills, disabled = [] } = this.#options;
    const lasts = lasting(facts, clock.now());
    const shown = safe(facts.filter((fact) => isShown(fact) && lasts(fact)));
    const holds = await Promise.all(shown.map(holdsAtCitation));
    const held = shown.filter((_, at) => holds[at]);
    const all = usesSkills === false ? [] : await readProcedures(home, roots, sessionId);
    const procedures = all.filter(({ name }) => !disabled.includes(name));
    // A rule whose line is left out is checked all the same.
    const turn = { request: () => this.#request, isFirstTurn: () => this.#messages <= 1 };
    this.#hooks = new CallChecks({ facts: held, procedures, ...turn, onUse: this.#options.onUse }).hooks;
    const kept = held.filter((fact) => !isLeftOut(sessionId, fact, ended));
    return learntText(repeatsLast(kept.toSorted(byWeight)));
  }
}

/** True once in a home: for a line that a user reads once. False also for a home that cannot be written. */
export function isFirstOf(home: string, name: string): Promise<boolean> {
  return writeFile(join(learningFolder(home), name), "", { flag: "wx" }).then(
    () => true,
    () => false,
  );
}

/** Facts of the project, and its episodes, one for each request. */
type Read = {
  readonly facts: readonly Fact[];
  readonly episodes: readonly EpisodeBrief[];
  /** Ended sessions of all projects. */
  readonly ended: readonly { readonly session: string; readonly at: number; readonly cwd: string }[];
  /** Number of all facts that wait for the user. */
  readonly waiting: number;
};

/** The summary without the sentences that a newer fact has made wrong. */
function currentPart(summary: string, outdated: (sentence: string) => string | undefined): string {
  return summary
    .split(/(?<=[.!?])\s+|\n+/)
    .filter((sentence) => outdated(sentence) === undefined)
    .join(" ")
    .trim();
}

/** Requests with this similarity are the same task: the newest episode has the newest facts. */
const SAME_TASK = 0.6;

/** Of episodes with nearly the same request only the newest one; `episodes`: oldest first. */
function newestOfAlike(episodes: readonly EpisodeBrief[]): readonly EpisodeBrief[] {
  const kept: { readonly episode: EpisodeBrief; readonly words: ReadonlySet<string> }[] = [];
  for (const episode of episodes.toReversed()) {
    const words = new Set(contentWords(episode.firstMessage));
    if (!kept.some((other) => similarity(words, other.words) >= SAME_TASK)) kept.push({ episode, words });
  }
  return kept.map(({ episode }) => episode);
}

/** A line that a person or another program made dangerous does not reach the model. */
function safe(facts: readonly Fact[]): readonly Fact[] {
  if (findThreat(facts.map(({ text }) => text).join("\n")) === undefined) return facts;
  return facts.filter(({ text }) => findThreat(text) === undefined);
}

/** Undefined without facts. `facts`: the most important ones first. The text has the newest ones first. */
export function learntText(facts: readonly Fact[]): string | undefined {
  const preferences = linesWithin(facts.filter(isPreference), MAX_PREFERENCE_BYTES);
  const used = bytesOf([HEAD, RULE, END, PREFERENCES, FACTS, ...preferences]);
  const others = linesWithin(
    facts.filter((fact) => !isPreference(fact)),
    MAX_BYTES - used,
  );
  if (preferences.length === 0 && others.length === 0) return undefined;
  return [
    HEAD,
    RULE,
    ...(preferences.length === 0 ? [] : [PREFERENCES, ...preferences]),
    ...(others.length === 0 ? [] : [FACTS, ...others]),
    END,
  ].join("\n");
}

function linesWithin(facts: readonly Fact[], limit: number): readonly string[] {
  const chosen = fitting(facts, limit, (fact) => bytesOf([lineOf(fact)]));
  return chosen.toSorted((one, other) => other.from - one.from).map(lineOf);
}

function bytesOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
}

export function withoutLearnt(prompt: string): string {
  const from = prompt.indexOf(HEAD);
  const to = prompt.indexOf(END, from);
  return from < 0 || to < 0 ? prompt : prompt.slice(0, from) + prompt.slice(to + END.length);
}

/** Ids of the facts in the session's prompt, and of the episodes that came with its first message. */
export function usedItems(
  { systemPrompt, messages, cwd, folders }: Pick<Transcript, "systemPrompt" | "messages" | "cwd" | "folders">,
  facts: readonly Fact[],
): readonly string[] {
  const from = systemPrompt.indexOf(HEAD);
  const lines = from < 0 ? [] : systemPrompt.slice(from, systemPrompt.indexOf(END, from)).split("\n");
  const shown = facts.filter(
    (fact) =>
      holdsIn(fact, [cwd, ...folders]) &&
      lines.some((line) => line === `- ${fact.text}` || line.startsWith(`- ${fact.text} (since `)),
  );
  const attached = messages.flatMap(({ message: { role, content } }) => {
    if (role !== "user" || typeof content !== "string" || !content.includes(EPISODES)) return [];
    return [...content.matchAll(EPISODE_LINE)].map(([, id = ""]) => `e-${id}`);
  });
  return [...new Set([...shown.map(({ id }) => id), ...attached])];
}

/** Start of a line that `episodeLine` makes. */
const EPISODE_LINE = /^- \d{4}-\d\d-\d\d \(session (\w+)\): /gm;

/** The episodes that fit the message, best first: by the rarity of the words that they share with it. */
export function matchEpisodes(message: string, episodes: readonly EpisodeBrief[]): readonly EpisodeBrief[] {
  const query = queryWords(message);
  const texts = episodes.map(
    ({ firstMessage, summary, taskType }) => new Set(contentWords(`${firstMessage} ${summary} ${taskType}`)),
  );
  const weightOf = (word: string): number => {
    const holding = texts.filter((words) => words.has(word)).length;
    return Math.log(1 + (texts.length - holding + 0.5) / (holding + 0.5));
  };
  const weights = new Map(query.map((word) => [word, weightOf(word)]));
  const sumOf = (words: readonly string[]): number => words.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0);
  const least = sumOf(query) * MIN_SHARE;
  const matching = episodes
    .map((episode, index) => {
      const shared = query.filter((word) => texts[index]?.has(word));
      return { episode, score: sumOf(shared), matches: shared.length >= MIN_WORDS };
    })
    .filter(({ matches, score }) => matches && score >= least)
    .toSorted((one, other) => other.score - one.score || other.episode.endedAt - one.episode.endedAt);
  const best = matching[0]?.score ?? 0;
  return matching
    .filter(({ score }) => score >= best * NEAR_BEST)
    .slice(0, MAX_EPISODES)
    .map(({ episode }) => episode);
}

function queryWords(message: string): readonly string[] {
  return [...new Set(contentWords(message.slice(0, 4_000)))];
}

function episodeLine({ sessionId, endedAt, summary }: EpisodeBrief): string {
  return `- ${localDate(endedAt)} (session ${sessionId}): ${oneLine(summary, LINE_CHARS)}`;
}
