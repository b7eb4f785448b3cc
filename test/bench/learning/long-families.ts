/** Families of tasks with several steps: a procedure with a pitfall, long pages, and a graph of sub-tasks. */
import { join } from "node:path";
import type { Chance, Words } from "./chance.ts";
import { type Family, type Project, readIn, removeIn, type Topic, writeIn, writeProgram } from "./task.ts";

const STEPS = 5;
/** Programs of the folder that belong to other work. */
const DECOYS = 4;
/** Step that fails after a plain run of the ones before it. */
const PITFALL = 4;

const names = ({ needs }: Topic): readonly string[] => (needs["steps"] ?? "").split(" ");

/** Programs in a certain order, one of which needs a further program that only its error names. */
export const publish: Family = {
  name: "publish",
  kind: "procedure",
  scope: "one project",
  open(project, noun, words) {
    const topic: Topic = { project, noun, needs: {} };
    installSteps(topic, words);
    return topic;
  },
  change: installSteps,
  task(topic, { number }) {
    const { project, noun } = topic;
    return {
      family: "publish",
      kind: "procedure",
      project,
      topic,
      files: [],
      prompt: `Publish the ${noun} build ${number}.`,
      needs: () => names(topic),
      hints: () => [`Publishing the ${noun} build:`, ...inOrder(names(topic)).map((name) => `- \`bin/${name}\``)],
      prepare: () => removeIn(project, `.state-${noun}`),
      check: () =>
        readIn(project, `.state-${noun}/${STEPS}`) === undefined
          ? { correction: `The ${noun} build is not published. See bin/.`, undo: [] }
          : undefined,
    };
  },
};

/** The program of the pitfall runs just before the step after it. */
function inOrder([clean = "", ...steps]: readonly string[]): readonly string[] {
  return steps.toSpliced(PITFALL - 2, 0, clean);
}

/** The first need is the program of the pitfall, so that a change hits one that must be learnt anew. */
function installSteps(topic: Topic, words: Words): void {
  const { project, noun, needs } = topic;
  const old = needs["steps"] === undefined ? [] : names(topic);
  for (const name of old) writeProgram(project, `bin/${name}`, `echo "bin/${name} was replaced" >&2\nexit 1`);
  const steps = Array.from({ length: STEPS }, (_, index) => (index === 0 ? old[1] : undefined) ?? words.token());
  const clean = words.token();
  topic.needs = { steps: [clean, ...steps].join(" ") };
  const state = `.state-${noun}`;
  const help = (text: string): string => `[ "$1" = --help ] && { echo "$(basename "$0"): ${text}"; exit 0; }`;
  steps.forEach((name, index) => {
    const step = index + 1;
    const before =
      step === 1
        ? `mkdir -p ${state}`
        : `[ -e ${state}/${step - 1} ] || { echo "step ${step - 1} is missing" >&2; exit 1; }`;
    const pitfall =
      step === PITFALL
        ? `[ -e ${state}/clean ] || { rm -f ${state}/${step - 1}; echo "the cache is stale: run bin/${clean}, then step ${step - 1} again" >&2; exit 3; }\n`
        : "";
    writeProgram(
      project,
      `bin/${name}`,
      `${help(`step ${step} of publishing ${noun}`)}\n${before}\n${pitfall}touch ${state}/${step}\necho "step ${step} is done"`,
    );
  });
  writeProgram(project, `bin/${clean}`, `${help("cleans a cache")}\ntouch ${state}/clean\necho cleaned`);
  if (old.length > 0) return;
  for (let count = 0; count < DECOYS; count += 1) {
    writeProgram(project, `bin/${words.token()}`, `${help("belongs to other work")}\nexit 1`);
  }
}

/** Pages of a register. The code stands in one of them, and the prompt alone names the signature. */
export type Pages = { readonly base: string; set(path: string, text: string): void };

const PAGES = 5;
/** Lengths of a page. All pages together do not fit into the window of the simulated model. Characters. */
const PAGE_CHARS = { least: 9_000, most: 14_500 } as const;

export function research(pages: Pages): Family {
  return {
    name: "research",
    kind: "research",
    scope: "one project",
    open: (project, noun) => ({ project, noun, needs: {} }),
    change: () => undefined,
    task(topic, { number, chance }) {
      const { project, noun } = topic;
      const tokenOf = (): string => `${noun}-${chance.below(1e9).toString(36)}`;
      const [code, signature] = [tokenOf(), tokenOf()];
      const place = chance.below(PAGES);
      const urls = Array.from({ length: PAGES }, (_, page) => {
        const path = `/${noun}/${number}/${page}.txt`;
        pages.set(path, pageText(chance, page === place ? `The code of ${noun} is \`${code}\`.` : ""));
        return `${pages.base}${path}`;
      });
      const path = `findings/${number}.txt`;
      return {
        family: "research",
        kind: "research",
        project,
        topic,
        files: [join(project.path, path)],
        prompt: `Read the ${noun} registers ${urls.join(" ")} and write the code of ${noun} to ${path}, signed with \`${signature}\`.`,
        needs: () => [],
        check() {
          const text = readIn(project, path) ?? "";
          if (text.includes(code) && text.includes(signature)) return undefined;
          return { correction: `${path} lacks the code or the signature.`, undo: [] };
        },
      };
    },
  };
}

function pageText(chance: Chance, line: string): string {
  const rows: string[] = [];
  const chars = PAGE_CHARS.least + chance.below(PAGE_CHARS.most - PAGE_CHARS.least);
  for (let length = 0; length < chars; length += rows.at(-1)?.length ?? 0) {
    rows.push(
      `entry ${chance.below(1e9).toString(36)} ${chance.below(1e9).toString(36)} is unchanged since the last count`,
    );
  }
  return rows.toSpliced(chance.below(rows.length), 0, line).join("\n");
}

/** Share of the runs of a table's second program that print a wrong row. */
const UNRELIABLE = 0.4;
const RUNS = 6;

/** A table of two rows; the program of one is unreliable, and its total shows it. */
export const table: Family = {
  name: "table",
  kind: "graph",
  scope: "one project",
  open: (project, noun, words) => ({ project, noun, needs: { first: words.token(), second: words.token() } }),
  change: () => undefined,
  task(topic, { number, chance }) {
    const { project, noun, needs } = topic;
    const rows = [rowOf(chance), rowOf(chance)];
    const [first, second] = rows as [readonly number[], readonly number[]];
    const path = `tables/${number}.txt`;
    const places = [`bin/${needs["first"]}`, `bin/${needs["second"]}`];
    const totals = rows.map((row) => row.reduce((sum, value) => sum + value, 0));
    return {
      family: "table",
      kind: "graph",
      project,
      topic,
      files: [join(project.path, path)],
      prompt: `Build the ${noun} table in ${path} from the rows of ${places[0]} (total ${totals[0]}) and ${places[1]} (total ${totals[1]}).`,
      needs: () => [],
      prepare() {
        writeProgram(project, places[0] ?? "", `echo "row: ${first.join(" ")}"`);
        writeProgram(project, places[1] ?? "", unreliable(project, { noun, row: second, chance }));
      },
      check() {
        const text = readIn(project, path) ?? "";
        if (rows.every((row) => text.includes(row.join(" ")))) return undefined;
        return {
          correction: `A row of ${path} does not add up to its total.`,
          undo: text === "" ? [] : [join(project.path, path)],
        };
      },
    };
  },
};

function rowOf(chance: Chance): readonly number[] {
  return Array.from({ length: 3 }, () => 10 + chance.below(80));
}

/** Each run takes the next of the prepared rows. */
function unreliable(
  project: Project,
  { noun, row, chance }: { readonly noun: string; readonly row: readonly number[]; readonly chance: Chance },
): string {
  const prepared = Array.from({ length: RUNS }, (_, run) => {
    const isWrong = run < RUNS - 1 && chance.hits(UNRELIABLE);
    return (isWrong ? row.map((value, index) => (index === 0 ? value + 1 + chance.below(5) : value)) : row).join(" ");
  });
  writeIn(project, `.rows-${noun}`, `${prepared.join("\n")}\n`);
  return `f=.rows-${noun}\necho "row: $(head -n 1 $f)"\n[ $(wc -l < $f) -gt 1 ] && sed -i 1d $f\nexit 0`;
}
