/** Ranks units of a conversation by author, effect and central words. */
import type { Message } from "../messages/message.ts";
import { isUsers, type Unit } from "./units.ts";

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

/** Units in order of importance, the least important first. */
export function byImportance(units: readonly Unit[]): readonly Unit[] {
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
  if (message.role !== "assistant") return 0;
  return (message.tool_calls ?? []).some(({ function: call }) => CHANGING_TOOLS.has(call.name)) ? CHANGED : 0;
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
    const length = Math.hypot(...weights.map(([, weight]) => weight)) || 1;
    return weights.map(([word, weight]): [string, number] => [word, weight / length]);
  });
  const centre = new Map<string, number>();
  for (const vector of vectors) for (const [word, weight] of vector) centre.set(word, (centre.get(word) ?? 0) + weight);
  const norm = Math.hypot(...centre.values()) || 1;
  return vectors.map(
    (vector) => vector.reduce((sum, [word, weight]) => sum + weight * (centre.get(word) ?? 0), 0) / norm,
  );
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
