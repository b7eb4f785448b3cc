/**
 * Clusters of episodes: sessions of one project with tasks of one kind, by the words of their first messages, and by
 * their programs and the places of their files. Equal episodes give equal clusters, in whatever order they come.
 */
import { relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { contentWords as wordsOf } from "../../memory/statement.ts";
import type { Episode } from "../episode.ts";
import { placeOf, programOf } from "../rule-checks.ts";
import { meanOf } from "./session-score.ts";

/** Fewer sessions show no habit. */
export const MIN_CLUSTER = 3;
/** Mean likeness with a group from which a session belongs to it. */
const MIN_LIKENESS = 0.5;
/** Maximum number of episodes of a project that are compared, the newest ones: the comparison grows with their square. */
const MAX_EPISODES = 600;
/** Work between two moments in which a turn may begin. Milliseconds. */
const SLICE_MS = 5;

/** Share of what two sessions did in their likeness. */
const TRACES = 0.4;

/** Weight of a word of a single message. A word of a tenth of all messages weighs 2.4. */
const ONCE = 1.5;

/** Rarity of a trace of a third of all sessions: a more frequent one looks around, and counts where no session has another. */
const TELLING = Math.log(4);

/** `traces`: programs and places. */
type Features = { readonly words: Weighted; readonly traces: Weighted };

/** Episodes of one kind, oldest first. */
export type Cluster = readonly Episode[];

/** Clusters of at least `MIN_CLUSTER` sessions, by the time of their first one. Rejects with the signal's reason. */
export async function clusterEpisodes(episodes: readonly Episode[], signal: AbortSignal): Promise<readonly Cluster[]> {
  const sorted = episodes.toSorted(byTime);
  const clusters: Cluster[] = [];
  for (const group of Object.values(Object.groupBy(sorted, ({ cwd }) => cwd))) {
    clusters.push(...(await clusterProject((group ?? []).slice(-MAX_EPISODES), signal)));
  }
  return clusters
    .filter((cluster) => new Set(cluster.map(({ sessionId }) => sessionId)).size >= MIN_CLUSTER)
    .toSorted(([one], [other]) => (one === undefined || other === undefined ? 0 : byTime(one, other)));
}

function byTime(one: Episode, other: Episode): number {
  return one.at - other.at || (one.sessionId < other.sessionId ? -1 : 1);
}

/** Puts each session into the group that it is most alike, or into one of its own. */
async function clusterProject(episodes: readonly Episode[], signal: AbortSignal): Promise<readonly Cluster[]> {
  const pause = slices(signal);
  const groups: { readonly episode: Episode; readonly features: Features }[][] = [];
  const features = featuresOf(episodes);
  for (const [at, episode] of episodes.entries()) {
    await pause();
    const own = features[at];
    if (own === undefined) continue;
    const likeness = groups.map((group) => meanOf(group.map((other) => alike(own, other.features))) ?? 0);
    const best = Math.max(...likeness);
    const group = best < MIN_LIKENESS ? undefined : groups[likeness.indexOf(best)];
    if (group === undefined) groups.push([{ episode, features: own }]);
    else group.push({ episode, features: own });
  }
  return groups.map((group) => group.map(({ episode }) => episode));
}

function featuresOf(episodes: readonly Episode[]): readonly Features[] {
  const words = episodes.map(({ firstMessage }) => contentWords(firstMessage));
  const traces = episodes.map(({ commands, paths, cwd }) => [
    ...commands.map(({ command }) => programOf(command)),
    ...paths.map((path) => placeOf(relative(cwd, path))),
  ]);
  const [ofWord, ofTrace] = [rarityOf(words), rarityOf(traces)];
  return episodes.map((_, at) => ({
    words: weighted(words[at] ?? [], ofWord),
    traces: weighted(traces[at] ?? [], (trace) => (ofTrace(trace) > TELLING ? ofTrace(trace) : Number.EPSILON)),
  }));
}

type Rarity = (item: string) => number;

/** Weight of a word or a trace: rare ones name the task, frequent ones the language, or looking around. */
function rarityOf(lists: readonly (readonly string[])[]): Rarity {
  const counts = new Map<string, number>();
  for (const items of lists) for (const item of new Set(items)) counts.set(item, (counts.get(item) ?? 0) + 1);
  return (item) => {
    const count = counts.get(item) ?? 1;
    // One of a single session is often a name or a value of that task.
    return count === 1 ? ONCE : Math.log(1 + lists.length / count);
  };
}

function alike(one: Features, other: Features): number {
  const words = overlap(one.words, other.words) ?? 0;
  return words * (1 - TRACES) + (overlap(one.traces, other.traces) ?? words) * TRACES;
}

/** Items with their weights, and the sum of these. */
type Weighted = { readonly items: ReadonlyMap<string, number>; readonly sum: number };

function weighted(items: readonly string[], weight: Rarity): Weighted {
  const weights = new Map(items.map((item) => [item, weight(item)]));
  return { items: weights, sum: [...weights.values()].reduce((sum, value) => sum + value, 0) };
}

/** Weighted Jaccard index; undefined for two empty sets. */
function overlap(one: Weighted, other: Weighted): number | undefined {
  if (one.items.size > other.items.size) return overlap(other, one);
  if (other.items.size === 0) return undefined;
  let shared = 0;
  for (const [item, weight] of one.items) if (other.items.has(item)) shared += weight;
  return shared / (one.sum + other.sum - shared);
}

/** Words that name the task: no numbers or code; in a base form. */
export function contentWords(message: string): readonly string[] {
  const text = message.replaceAll(/```[\s\S]*?(?:```|$)|^>.*$/gm, " ");
  return wordsOf(text).filter((word) => /^\p{L}./u.test(word));
}

/** Function that lets other work of the process run from time to time. Rejects with the signal's reason. */
function slices(signal: AbortSignal): () => Promise<void> {
  let since = performance.now();
  return async () => {
    signal.throwIfAborted();
    if (performance.now() - since < SLICE_MS) return;
    await setImmediate();
    since = performance.now();
  };
}
