/**
 * Clusters of episodes: sessions of one project with tasks of one kind, by the words of their first messages, commands,
 * tools and paths. Equal episodes give equal clusters, in whatever order they come.
 */
import { basename, dirname, extname, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { contentWords as wordsOf } from "../../memory/statement.ts";
import type { Episode } from "../episodes.ts";

/** Fewer sessions show no habit. */
export const MIN_CLUSTER = 3;
/** Average likeness of two groups that are one cluster. */
export const MIN_LIKENESS = 0.5;
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
/** Programs that look around in every kind of task. */
const LOOKING =
  /^(?:cat|cd|echo|find|grep|head|ls|pwd|rg|sed|sort|tail|tree|uniq|wc|which|git (?:diff|log|show|status))$/;

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
  const best = groups.map((_, row) => bestOf(likeness, row));
  for (;;) {
    await pause();
    const row = best.reduce((winner, each, at) => (each.value > (best[winner]?.value ?? -1) ? at : winner), 0);
    const chosen = best[row];
    if (chosen === undefined || chosen.value < MIN_LIKENESS) break;
    const { column } = chosen;
    merge(groups, likeness, [row, column]);
    for (const [at, known] of best.entries()) {
      const value = likeness[at]?.[row] ?? -1;
      if (at === row || [row, column].includes(known.column)) best[at] = bestOf(likeness, at);
      else if (value > known.value) best[at] = { column: row, value };
    }
    best[column] = NONE;
  }
  return groups.filter((group) => group.length > 0).map((group) => group.toSorted(byTime));
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

type Best = { readonly column: number; readonly value: number };

const NONE: Best = { column: -1, value: -1 };

function bestOf(likeness: readonly Float64Array[], row: number): Best {
  let best = NONE;
  likeness[row]?.forEach((value, column) => {
    if (value > best.value) best = { column, value };
  });
  return best;
}

/** Likeness of each pair; -1 of an episode with itself. */
async function likenessOf(episodes: readonly Episode[], pause: () => Promise<void>): Promise<readonly Float64Array[]> {
  const rarity = rarityOf(episodes.map(({ firstMessage }) => contentWords(firstMessage)));
  const features = episodes.map((episode) => featuresOf(episode, rarity));
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

/** Likeness of two episodes from 0 to 1, without knowledge of others. */
export function likenessOfPair(one: Episode, other: Episode): number {
  const [first, second] = [one, other].map((episode) => featuresOf(episode, () => 1));
  return one.cwd === other.cwd && first && second ? alike(first, second) : 0;
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

/** `rarity`: of words. */
function featuresOf(episode: Episode, rarity: Rarity): Features {
  const { firstMessage, commands, tools, paths, cwd } = episode;
  const padded = ["^", ...tools, "$"];
  return {
    episode,
    words: weighted(contentWords(firstMessage), rarity),
    commands: weighted(commands.map(({ command }) => programOf(command)).filter((program) => !LOOKING.test(program))),
    tools: weighted(padded.slice(2).map((_, at) => padded.slice(at, at + 3).join(" "))),
    places: weighted(paths.map((path) => placeOf(relative(cwd, path)))),
  };
}

/** Words that name the task: no small words, numbers or code; in a base form. */
export function contentWords(message: string): readonly string[] {
  const text = message.slice(0, READ_CHARS).replaceAll(/```[\s\S]*?(?:```|$)|^>.*$/gm, " ");
  return wordsOf(text).filter((word) => /^\p{L}./u.test(word));
}

/** Program of a command line, with its subcommand: `npm test`, `bin/check`. */
function programOf(command: string): string {
  const [program = "", next = ""] = command.trim().split(/\s+/);
  return !LOOKING.test(program) && /^[a-z][\w:-]*$/.test(next) && !program.includes("/")
    ? `${program} ${next}`
    : program;
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
