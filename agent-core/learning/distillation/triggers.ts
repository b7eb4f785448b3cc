/**
 * Conditions under which the host adds a learnt skill to a message: phrases and globs from the messages of its cluster. They
 * are used only after a test with the real router on messages that they were not made from.
 */
import { extname } from "node:path";
import { routeSkills } from "../../skills/route-skills.ts";
import type { SkillTriggers } from "../../skills/skill.ts";
import { contentWords, stem } from "./clusters.ts";

/** Minimum share of the held-out messages that route, and of the routed messages that belong to the cluster. */
const MIN_SHARE = 0.8;
const MAX_PHRASES = 6;
/** Most other content words between the two words of a phrase. */
const REACH = 3;
/** Most other messages that a test reads. */
const MAX_OTHERS = 300;

export type TriggerTest =
  | { readonly ok: true; readonly triggers: SkillTriggers }
  | { readonly ok: false; readonly reason: string };

/** Triggers that route the messages of the cluster and no others, tested with each message held out. */
export function findTriggers(messages: readonly string[], others: readonly string[]): TriggerTest {
  const foreign = others.slice(-MAX_OTHERS);
  const heldOut = messages.filter((message, at) => routes(triggersOf(messages.toSpliced(at, 1), foreign), message));
  const recall = heldOut.length / messages.length;
  if (recall < MIN_SHARE)
    return { ok: false, reason: `its triggers route ${percent(recall)} of the held-out messages` };
  const triggers = triggersOf(messages, foreign);
  const own = messages.filter((message) => routes(triggers, message)).length;
  const wrong = foreign.filter((message) => routes(triggers, message)).length;
  const precision = own / Math.max(1, own + wrong);
  if (precision < MIN_SHARE)
    return { ok: false, reason: `only ${percent(precision)} of the messages it routes are of its kind` };
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

/** The fewest phrases that cover the messages; rare words first, because they name the task. */
function triggersOf(messages: readonly string[], others: readonly string[]): SkillTriggers {
  const own = messages.map(stemsOf);
  const foreign = others.map(stemsOf);
  const globs = sharedGlobs(messages);
  const counts = new Map<string, number>();
  for (const stems of [...own, ...foreign])
    for (const word of new Set(stems)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const rarity = (words: readonly string[]): number =>
    words.reduce((sum, word) => sum + 1 / (counts.get(word) ?? 1), 0);
  const candidates = phrasesIn(own, globs.length > 0).map(
    ([words, found]): Phrase => ({ words, found, rarity: rarity(words) }),
  );
  const wrong = (phrase: Phrase): number =>
    globs.length > 0 ? 0 : foreign.filter((stems) => contains(stems, phrase.words)).length;
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
  return { globs, keywords: chosen.map(({ words }) => keywordOf(words, messages)), tasks: [] };
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

function contains(stems: readonly string[], [first = "", second]: readonly string[]): boolean {
  if (second === undefined) return stems.includes(first);
  return pairsOf(stems).includes(`${first} ${second}`);
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
        .filter((form) => stem(form) === word)
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
