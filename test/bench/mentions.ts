/**
 * Time of a search after `@` among 50,000 files, and the longest time for which a search blocks the extension host.
 * Floor: fuzzysort over all names at once.
 */
import fuzzysort from "fuzzysort";
import { FileIndex, withFolders } from "../../extension/attachments/rank-mentions.ts";
import { byTurns, median, quantile, type Row } from "./measuring.ts";

const FILES = 50_000;
const ROUNDS = 10;
/** An answer before the next key. Milliseconds, at the 95th percentile. */
const TARGET_MS = 30;
/** Limit of the extension host for one piece of work. Milliseconds. */
const MAX_BLOCK_MS = 5;

const WORDS = [
  "src",
  "lib",
  "core",
  "agent",
  "model",
  "view",
  "panel",
  "test",
  "client",
  "render",
  "handler",
  "session",
];
/** As typed: a name letter by letter, a path, two words, single letters of a name, and a text that nothing has. */
const QUERIES = ["s", "se", "sess", "session", "sessview4", "panel/sess", "src view", "sndx12", "zzzz"];

export async function measureMentions(): Promise<readonly Row[]> {
  const paths = [...Array(FILES).keys()].map(pathOf);
  const index = new FileIndex();
  await index.replace(withFolders(paths.map((path) => ({ root: 0, path }))));
  const plain = fuzzysort.snapshot(paths.map((path) => path.slice(path.lastIndexOf("/") + 1)));
  const { signal } = new AbortController();
  const blocks: number[] = [];
  const searches = await byTurns(
    ROUNDS,
    () => eachQuery(async (query) => void blocks.push(await longestBlock(index.search(query, () => false, signal)))),
    () => eachQuery(async (query) => void fuzzysort.go(query, plain, { limit: 50, threshold: 0.3 })),
  );
  const [ours, floor] = [searches.ours.flat(), searches.floor.flat()];
  return [
    {
      what: `search after @ in ${FILES} files, 95th percentile`,
      ours: quantile(ours, 0.95),
      floor: quantile(floor, 0.95),
      target: TARGET_MS,
      unit: "ms",
    },
    {
      what: "longest block of the extension host in such a search, median",
      ours: median(blocks),
      target: MAX_BLOCK_MS,
      unit: "ms",
    },
  ];
}

async function eachQuery(search: (query: string) => Promise<void>): Promise<readonly number[]> {
  const taken: number[] = [];
  for (const query of QUERIES) {
    const start = performance.now();
    await search(query);
    taken.push(performance.now() - start);
  }
  return taken;
}

/** Longest time between two turns of the event loop during the work. Milliseconds. */
async function longestBlock(work: Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false as boolean;
  let last = performance.now();
  const look = (): void => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work;
  isOver = true;
  return longest;
}

/** A path of some folders and a name of two words, the same in each run. */
function pathOf(number: number): string {
  const word = (step: number): string =>
    WORDS[(number * 7 + step * 5 + Math.floor(number / (step + 3))) % WORDS.length] ?? "";
  const folders = [...Array(1 + (number % 5)).keys()].map((step) => word(step + 2));
  return `${folders.join("/")}/${word(0)}-${word(1)}${number}.ts`;
}
