/** Strategies of a compression: each chooses the messages to drop. */
import { callsOf, type Message } from "../messages/message.ts";
import type { TranscriptEntry } from "../sessions/conversation.ts";
import { messageTokens } from "./token-meter.ts";

/** Part of a conversation that a compression drops or keeps as a whole, so that no call loses its result. */
export type Unit = {
  /** One message, or an answer with the results of its calls, in order. */
  readonly items: readonly TranscriptEntry[];
  /** Estimate. */
  readonly tokens: number;
};

export function unitsOf(items: readonly TranscriptEntry[]): readonly Unit[] {
  const groups: TranscriptEntry[][] = [];
  for (const item of items) {
    const last = groups.at(-1);
    const belongs = item.message.role === "tool" && last?.[0]?.message.role === "assistant";
    if (belongs) last?.push(item);
    else groups.push([item]);
  }
  return groups.map((group) => ({
    items: group,
    tokens: group.reduce((sum, { message }) => sum + messageTokens(message), 0),
  }));
}

/** True for a message of the user. */
export function isUsers({ items: [first] }: Unit): boolean {
  return first?.message.role === "user" && !first.message.synthetic;
}

export type Strategy = {
  /** Value of `compression.strategy` in config.yaml. */
  readonly name: string;
  /** Units to drop from `units`, which are in the conversation's order. `excess` is the number of tokens to save. */
  choose(units: readonly Unit[], excess: number): readonly Unit[];
};

/** Newest units that the hybrid strategy keeps. */
const KEPT_UNITS = 5;

/** Replaces the whole middle by one summary, which keeps the next compression far away. */
const summary: Strategy = { name: "summary", choose: (units) => units };

/** Drops the oldest units. No model sums them up. */
const recency: Strategy = { name: "recency", choose: firstOf };

/** Drops the least important units. */
const importance: Strategy = {
  name: "importance",
  choose: (units, excess) => firstOf(byImportance(units), excess),
};

/** Drops the least important units, but keeps the newest. */
const hybrid: Strategy = {
  name: "hybrid",
  choose: (units, excess) => firstOf(byImportance(units.slice(0, -KEPT_UNITS)), excess),
};

export const strategies: readonly Strategy[] = [summary, recency, importance, hybrid];

/** Strategy by its name; `summary` for an unknown name. */
export function strategyOf(name: string): Strategy {
  return strategies.find((strategy) => strategy.name === name) ?? summary;
}

/** Units from the front of `order` that have `excess` tokens together. */
function firstOf(order: readonly Unit[], excess: number): readonly Unit[] {
  const chosen: Unit[] = [];
  let left = excess;
  for (const unit of order) {
    if (left <= 0) break;
    chosen.push(unit);
    left -= unit.tokens;
  }
  return chosen;
}

/** Score of a message of the user. */
const USERS = 3;
/** Words of a user who states a rule or a preference. */
const MARKERS = /\b(always|never|must|important|remember|don't|do not|prefer|instead|wrong|please)\b/i;
const MARKED = 1;
/** Score of a failed call, and of a call that changed something. */
const FAILED = 0.5;
const CHANGED = 1;
const CHANGING_TOOLS = new Set(["write_file", "patch", "memory", "todo"]);
const CENTRAL = 2;
const WORD = /[\p{L}\p{N}_]{3,}/gu;
/** Characters of each unit that are compared. */
const COMPARED_CHARS = 4_000;

/** Units in order of importance, the least important first: by author, effect and central words. */
function byImportance(units: readonly Unit[]): readonly Unit[] {
  const central = centrality(units.map(textOf));
  const scored = units.map((unit, index) => ({ unit, score: signals(unit) + CENTRAL * (central[index] ?? 0) }));
  return scored.toSorted((one, other) => one.score - other.score).map(({ unit }) => unit);
}

function signals(unit: Unit): number {
  const users = isUsers(unit) ? USERS + (MARKERS.test(textOf(unit)) ? MARKED : 0) : 0;
  return users + unit.items.reduce((sum, { message }) => sum + toolSignals(message), 0);
}

function toolSignals(message: Message): number {
  if (message.role === "tool") return /^(Error|\w+: )/.test(message.content) ? FAILED : 0;
  return callsOf(message).some(({ function: call }) => CHANGING_TOOLS.has(call.name)) ? CHANGED : 0;
}

/** Similarity of each text to all texts together: cosine of TF-IDF vectors, from 0 to 1. */
function centrality(texts: readonly string[]): readonly number[] {
  const counts = texts.map(wordCounts);
  const spread = new Map<string, number>();
  for (const words of counts) for (const word of words.keys()) spread.set(word, (spread.get(word) ?? 0) + 1);
  const vectors = counts.map((words) => {
    const weights = [...words].map(([word, count]): [string, number] => [
      word,
      (1 + Math.log(count)) * Math.log(1 + texts.length / (spread.get(word) ?? 1)),
    ]);
    const length = lengthOf(weights.map(([, weight]) => weight));
    return weights.map(([word, weight]): [string, number] => [word, weight / length]);
  });
  const centre = new Map<string, number>();
  for (const vector of vectors) for (const [word, weight] of vector) centre.set(word, (centre.get(word) ?? 0) + weight);
  const norm = lengthOf(centre.values());
  return vectors.map(
    (vector) => vector.reduce((sum, [word, weight]) => sum + weight * (centre.get(word) ?? 0), 0) / norm,
  );
}

/** Euclidean length; 1 for a null vector. A vocabulary is too large for the arguments of `Math.hypot`. */
function lengthOf(weights: Iterable<number>): number {
  let squares = 0;
  for (const weight of weights) squares += weight ** 2;
  return Math.sqrt(squares) || 1;
}

function wordCounts(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [word] of text.toLowerCase().matchAll(WORD)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function textOf({ items }: Unit): string {
  return items
    .map(({ message }) => (typeof message.content === "string" ? message.content : ""))
    .join("\n")
    .slice(0, COMPARED_CHARS);
}
