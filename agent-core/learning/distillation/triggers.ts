/**
 * Conditions under which the host adds a learnt skill to a message: phrases and globs from the messages of its cluster. They
 * are used only after a test with the real router on messages that they were not made from.
 */
import { extname } from "node:path";
import { baseForm } from "../../memory/statement.ts";
import { routeSkills } from "../../skills/route-skills.ts";
import type { SkillTriggers } from "../../skills/skill.ts";
import { contentWords, slices } from "./clusters.ts";

/** Minimum share of the held-out messages that route, and of the routed messages that belong to the cluster. */
const MIN_SHARE = 0.8;
const MAX_PHRASES = 6;
/** Maximum number of other content words between the two words of a phrase. */
const REACH = 3;
/** Maximum number of messages that a test reads: of the cluster, and of other tasks. */
const MAX_OWN = 20;
const MAX_OTHERS = 300;

export type TriggerTest =
  | { readonly ok: true; readonly triggers: SkillTriggers }
  | { readonly ok: false; readonly reason: string };

/**
 * Triggers that route the messages of the cluster (its newest ones) and no others, tested with each message held out.
 * Rejects with the signal's reason.
 */
export async function findTriggers(
  cluster: readonly string[],
  others: readonly string[],
  signal: AbortSignal,
): Promise<TriggerTest> {
  const pause = slices(signal);
  const messages = cluster.slice(-MAX_OWN);
  const foreign = others.slice(-MAX_OTHERS);
  const known = phraseCounts(foreign);
  let heldOut = 0;
  for (const [at, message] of messages.entries()) {
    await pause();
    if (routes(triggersOf(messages.toSpliced(at, 1), known), message)) heldOut += 1;
  }
  const recall = heldOut / messages.length;
  if (recall < MIN_SHARE) {
    return { ok: false, reason: `its triggers route ${percent(recall)} of the held-out messages` };
  }
  const triggers = triggersOf(messages, known);
  const own = messages.filter((message) => routes(triggers, message)).length;
  let wrong = 0;
  for (const message of foreign) {
    await pause();
    if (routes(triggers, message)) wrong += 1;
  }
  const precision = own / Math.max(1, own + wrong);
  if (precision < MIN_SHARE) {
    return { ok: false, reason: `only ${percent(precision)} of the messages it routes are of its kind` };
  }
  return { ok: true, triggers };
}

/** True when the router adds a skill with these triggers to the message. */
export function routes(triggers: SkillTriggers, message: string): boolean {
  return routeSkills(message, [{ triggers }]).length > 0;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

type Phrase = { readonly words: readonly string[]; readonly found: ReadonlySet<number>; readonly rarity: number };

/** Number of the messages that have a word or a phrase. */
type Counts = ReadonlyMap<string, number>;

function phraseCounts(messages: readonly string[]): Counts {
  const counts = new Map<string, number>();
  for (const message of messages) {
    const stems = stemsOf(message);
    for (const item of new Set([...stems, ...pairsOf(stems)])) counts.set(item, (counts.get(item) ?? 0) + 1);
  }
  return counts;
}

/** The fewest phrases that cover the messages; rare words first, because they name the task. `others`: in other messages. */
function triggersOf(messages: readonly string[], others: Counts): SkillTriggers {
  const own = messages.map(stemsOf);
  const globs = sharedGlobs(messages);
  const counts = phraseCounts(messages);
  const rarityOf = (word: string): number => 1 / ((counts.get(word) ?? 0) + (others.get(word) ?? 0));
  const candidates = phrasesIn(own, globs.length > 0).map(
    ([words, found]): Phrase => ({ words, found, rarity: words.reduce((sum, word) => sum + rarityOf(word), 0) }),
  );
  const wrong = ({ words }: Phrase): number => (globs.length > 0 ? 0 : (others.get(words.join(" ")) ?? 0));
  const left = new Set(own.keys());
  const chosen: Phrase[] = [];
  while (left.size > 0 && chosen.length < MAX_PHRASES) {
    const gain = ({ found }: Phrase): number => [...found].filter((at) => left.has(at)).length;
    const best = candidates
      .filter((phrase) => gain(phrase) > 0)
      .map((phrase) => ({ phrase, value: gain(phrase) - wrong(phrase) * 2 }))
      .toSorted((one, other) => other.value - one.value || other.phrase.rarity - one.phrase.rarity)[0];
    if (best === undefined || best.value <= 0) break;
    chosen.push(best.phrase);
    for (const at of best.phrase.found) left.delete(at);
  }
  return { globs, keywords: chosen.map(({ words }) => keywordOf(words, messages)) };
}

/** Phrases of at least two messages; with a glob, single words too. With their messages. */
function phrasesIn(
  messages: readonly (readonly string[])[],
  withWords: boolean,
): readonly (readonly [readonly string[], ReadonlySet<number>])[] {
  const found = new Map<string, Set<number>>();
  for (const [at, stems] of messages.entries()) {
    for (const phrase of [...pairsOf(stems), ...(withWords ? stems : [])]) {
      const places = found.get(phrase) ?? new Set();
      found.set(phrase, places.add(at));
    }
  }
  return [...found].filter(([, { size }]) => size >= 2).map(([phrase, places]) => [phrase.split(" "), places]);
}

function pairsOf(stems: readonly string[]): readonly string[] {
  return stems.flatMap((first, at) =>
    stems.slice(at + 1, at + 1 + REACH).flatMap((second) => (second === first ? [] : [`${first} ${second}`])),
  );
}

/** The phrase with every form of its words that the messages have: `publish|publishing note|notes`. */
function keywordOf(words: readonly string[], messages: readonly string[]): string {
  const forms = new Set<string>(
    messages.flatMap(
      (message) =>
        withoutFiles(message)
          .toLowerCase()
          .match(/[\p{L}\p{N}]+/gu) ?? [],
    ),
  );
  return words
    .map((word) =>
      [...forms]
        .filter((form) => baseForm(form) === word)
        .toSorted((one, other) => (one < other ? -1 : 1))
        .join("|"),
    )
    .join(" ");
}

const FILE_NAME = /(?:[\w.@-]+\/)*[\w@-][\w.@-]*\.[A-Za-z]\w{0,9}\b/g;

function withoutFiles(message: string): string {
  return message.replaceAll(FILE_NAME, " ");
}

function stemsOf(message: string): readonly string[] {
  return contentWords(withoutFiles(message));
}

/** `*.csv`, when every message names a file with that extension. */
function sharedGlobs(messages: readonly string[]): readonly string[] {
  const lists = messages.map((message) => new Set((message.match(FILE_NAME) ?? []).map((name) => extname(name))));
  const [first = new Set<string>()] = lists;
  return [...first].filter((each) => each !== "" && lists.every((list) => list.has(each))).map((each) => `*${each}`);
}
