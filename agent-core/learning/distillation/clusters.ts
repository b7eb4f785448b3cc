/**
 * Clusters of episodes: sessions of one project with tasks of one kind, by the words of their first messages, commands,
 * tools and paths. Equal episodes give equal clusters, in whatever order they come.
 */
import { basename, dirname, extname, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { contentWords as wordsOf } from "../../memory/statement.ts";
import type { Episode } from "../episode.ts";
import { programOf } from "../rule-checks.ts";

/** Fewer sessions show no habit. */
export const MIN_CLUSTER = 3;
/** Average likeness of two groups that are one cluster. */
const MIN_LIKENESS = 0.5;
/** Maximum number of episodes of a project that are compared, the newest ones: the comparison grows with their square. */
const MAX_EPISODES = 600;
/** First part of a message, which names its task. Characters. */
const READ_CHARS = 2_000;
/** Work between two moments in which a turn may begin. Milliseconds. */
const SLICE_MS = 5;

/** Share of each kind of feature. A feature that both episodes lack does not count. */
const WEIGHTS = { words: 0.5, commands: 0.2, tools: 0.1, places: 0.15, taskType: 0.05 } as const;

/** Weight of a word of a single message. A word of a tenth of all messages weighs 2.4. */
const ONCE = 1.5;

/** Mean likeness of the requests of sessions with a program, from which it tells the kind of a task. */
const TELLING = 0.2;

type Features = {
  readonly episode: Episode;
  readonly words: Weighted;
  readonly commands: Weighted;
  readonly tools: Weighted;
  readonly places: Weighted;
};

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

/** Joins the two most alike groups until none are alike enough. */
async function clusterProject(episodes: readonly Episode[], signal: AbortSignal): Promise<readonly Cluster[]> {
  const pause = slices(signal);
  const likeness = await likenessOf(episodes, pause);
  const groups = episodes.map((episode) => [episode]);
  for (;;) {
    await pause();
    const { row, column, value } = mostAlike(likeness);
    if (value < MIN_LIKENESS) break;
    merge(groups, likeness, [row, column]);
  }
  return groups.filter((group) => group.length > 0).map((group) => group.toSorted(byTime));
}

/** The two groups with the greatest likeness, the first ones of equals. */
function mostAlike(likeness: readonly Float64Array[]) {
  let best = { row: -1, column: -1, value: -1 };
  likeness.forEach((values, row) => {
    values.forEach((value, column) => {
      if (value > best.value) best = { row, column, value };
    });
  });
  return best;
}

/** Puts the second group into the first one. The likeness of the whole is the average over its members. */
function merge(groups: Episode[][], likeness: readonly Float64Array[], [to, from]: readonly [number, number]): void {
  const [kept, gone] = [likeness[to], likeness[from]];
  const [sizeTo, sizeFrom] = [groups[to]?.length ?? 0, groups[from]?.length ?? 0];
  likeness.forEach((row, at) => {
    const joint = ((kept?.[at] ?? -1) * sizeTo + (gone?.[at] ?? -1) * sizeFrom) / (sizeTo + sizeFrom);
    const value = at === to || at === from || (groups[at]?.length ?? 0) === 0 ? -1 : joint;
    row[to] = value;
    row[from] = -1;
    if (kept) kept[at] = value;
    if (gone) gone[at] = -1;
  });
  groups[to]?.push(...(groups[from] ?? []));
  groups[from] = [];
}

/** Likeness of each pair; -1 of an episode with itself. */
async function likenessOf(episodes: readonly Episode[], pause: () => Promise<void>): Promise<readonly Float64Array[]> {
  const rarity = rarityOf(episodes.map(({ firstMessage }) => contentWords(firstMessage)));
  const telling = tellingPrograms(episodes, rarity);
  const features = episodes.map((episode) => featuresOf(episode, rarity, (program) => telling.has(program)));
  const likeness = episodes.map(() => new Float64Array(episodes.length).fill(-1));
  for (const [row, one] of features.entries()) {
    await pause();
    for (let column = 0; column < row; column += 1) {
      const other = features[column];
      const value = other === undefined ? -1 : alike(one, other);
      const [first, second] = [likeness[row], likeness[column]];
      if (first) first[column] = value;
      if (second) second[row] = value;
    }
  }
  return likeness;
}

type Rarity = (word: string) => number;

/** Weight of a word: rare words name the task, frequent ones the language. */
function rarityOf(messages: readonly (readonly string[])[]): Rarity {
  const counts = new Map<string, number>();
  for (const words of messages) for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return (word) => {
    const count = counts.get(word) ?? 1;
    // A word of a single message is often a name or a value of that task.
    return count === 1 ? ONCE : Math.log(1 + messages.length / count);
  };
}

function alike(one: Features, other: Features): number {
  let [sum, weights] = [0, 0];
  const add = (weight: number, value: number | undefined): void => {
    if (value === undefined) return;
    sum += weight * value;
    weights += weight;
  };
  add(WEIGHTS.words, overlap(one.words, other.words));
  add(WEIGHTS.commands, overlap(one.commands, other.commands));
  add(WEIGHTS.tools, overlap(one.tools, other.tools));
  add(WEIGHTS.places, overlap(one.places, other.places));
  add(WEIGHTS.taskType, sameType(one.episode, other.episode));
  return sum / weights;
}

/** Undefined when the type of one is unknown. */
function sameType(one: Episode, other: Episode): number | undefined {
  if (one.taskType === "" || other.taskType === "") return undefined;
  return one.taskType === other.taskType ? 1 : 0;
}

/** Items with their weights, and the sum of these. */
type Weighted = { readonly items: ReadonlyMap<string, number>; readonly sum: number };

function weighted(items: readonly string[], weight: Rarity = () => 1): Weighted {
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

/** Programs whose sessions have requests that are alike. One that looks around runs in every kind of task, and tells nothing. */
function tellingPrograms(episodes: readonly Episode[], rarity: Rarity): ReadonlySet<string> {
  const requests = new Map<string, Weighted[]>();
  for (const episode of episodes) {
    const words = weighted(contentWords(episode.firstMessage), rarity);
    for (const program of new Set(programsOf(episode)))
      requests.set(program, [...(requests.get(program) ?? []), words]);
  }
  const tells = (all: readonly Weighted[]): boolean => {
    const shares = all.slice(1).map((words, at) => overlap(words, all[at] ?? words) ?? 0);
    return shares.reduce((sum, share) => sum + share, 0) >= shares.length * TELLING;
  };
  return new Set([...requests].flatMap(([program, all]) => (tells(all) ? [program] : [])));
}

/** `rarity`: of words. */
function featuresOf(episode: Episode, rarity: Rarity, tells: (program: string) => boolean): Features {
  const { firstMessage, tools, paths, cwd } = episode;
  const padded = ["^", ...tools, "$"];
  return {
    episode,
    words: weighted(contentWords(firstMessage), rarity),
    commands: weighted(programsOf(episode).filter(tells)),
    tools: weighted(padded.slice(2).map((_, at) => padded.slice(at, at + 3).join(" "))),
    places: weighted(paths.map((path) => placeOf(relative(cwd, path)))),
  };
}

/** Words that name the task: no small words, numbers or code; in a base form. */
export function contentWords(message: string): readonly string[] {
  const text = message.slice(0, READ_CHARS).replaceAll(/```[\s\S]*?(?:```|$)|^>.*$/gm, " ");
  return wordsOf(text).filter((word) => /^\p{L}./u.test(word));
}

function programsOf({ commands }: Episode): readonly string[] {
  return commands.map(({ command }) => programOf(command));
}

/** Folder and extension of a path: `src/*.ts`. */
function placeOf(path: string): string {
  return `${dirname(path)}/*${extname(path) || basename(path)}`;
}

/** Function that lets other work of the process run from time to time. Rejects with the signal's reason. */
export function slices(signal: AbortSignal): () => Promise<void> {
  let since = performance.now();
  return async () => {
    signal.throwIfAborted();
    if (performance.now() - since < SLICE_MS) return;
    await setImmediate();
    since = performance.now();
  };
}
