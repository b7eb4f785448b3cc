// Episodes of families of tasks, single tasks, and a scripted model that distils them.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Episode } from "../../../../agent-core/learning/episode.ts";
import { writeEpisode } from "../../../../agent-core/learning/episode-files.ts";
import { LearningLedger } from "../../../../agent-core/learning/learning-ledger.ts";
import type { LoopPorts } from "../../../../agent-core/learning/loop.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

export const DAY_MS = 24 * 60 * 60 * 1_000;
export const START = Date.parse("2026-11-23T10:00:00");
export const PROJECT = "/project/shop";

/** A family of tasks: its words, and the commands of a right run. */
export type Family = {
  readonly requests: readonly string[];
  readonly commands: readonly string[];
  readonly path: string;
};

export const FAMILIES: readonly Family[] = [
  {
    requests: [
      "Publish the glauno build 17.",
      "Please publish glauno build 18",
      "publish the new glauno build, number 21",
    ],
    commands: ["bin/zq7-pack --lane 4", "bin/mul-sign", "bin/zq7-push --all"],
    path: "dist/glauno.txt",
  },
  {
    requests: ["Run the tests of the parser", "can you run the parser tests?", "Run parser tests again, please"],
    commands: ["npm test -- parser", "npm run check-types"],
    path: "test/parser.test.ts",
  },
  {
    requests: [
      "Add a changelog entry for the fix",
      "Write the changelog entry of this fix",
      "changelog entry for fix 12, please",
    ],
    commands: ["git log --oneline -5"],
    path: "CHANGELOG.md",
  },
  {
    requests: [
      "Migrate the orders table",
      "Migrate table customers in the database",
      "migrate the invoices table please",
    ],
    commands: ["tools/migrate --dry-run", "tools/migrate --apply"],
    path: "db/schema.sql",
  },
];

export function familyAt(index: number): Family {
  const family = FAMILIES[index];
  if (family === undefined) throw new Error(`There is no family ${index}.`);
  return family;
}

let number = 0;

/** An episode; `at`: its end. */
export function episode(at: number, more: Partial<Episode> = {}): Episode {
  number += 1;
  const stamp = new Date(at).toISOString().replaceAll(/[-:]/g, "").replace("T", "_").slice(0, 15);
  return {
    sessionId: `${stamp}_${number.toString(16).padStart(8, "0")}`,
    at: at - 60_000,
    endedAt: at,
    cwd: PROJECT,
    folders: [],
    origin: "user",
    taskType: "",
    outcome: "",
    firstMessage: "hello",
    messages: 1,
    tools: [],
    paths: [],
    commands: [],
    score: 1,
    signals: 1,
    corrections: [],
    undone: [],
    skills: [],
    stopReasons: ["end_turn"],
    summary: "Done.",
    ...more,
  };
}

/** Run `index` of a family: each run has its own words. */
export function run(family: Family, index: number, at: number, more: Partial<Episode> = {}): Episode {
  const { requests, commands, path } = family;
  return episode(at, {
    firstMessage: requests[index % requests.length] ?? "",
    tools: ["read_file", ...commands.map(() => "terminal"), "patch"],
    paths: [`${PROJECT}/${path}`],
    commands: commands.map((command) => ({ command, exit: 0 })),
    ...more,
  });
}

const NOUNS = ["lantern", "harbor", "violin", "meadow", "copper", "glacier", "saddle", "orchard", "pigeon", "marble"];
const VERBS = [
  "Explain",
  "Rename",
  "Delete",
  "Describe",
  "Draw",
  "Measure",
  "Compare",
  "Sort",
  "Mend",
  "Paint",
  "Count",
];

/** Tasks that come once, of many kinds. */
export function single(index: number, at: number): Episode {
  const noun = `${NOUNS[index % NOUNS.length]}${"abcdefghij"[Math.floor(index / 10) % 10]}${"klmnopqrst"[Math.floor(index / 100) % 10]}`;
  return episode(at, {
    firstMessage: `${VERBS[index % VERBS.length]} the ${noun} of ${NOUNS[(index * 7 + 3) % NOUNS.length]}${index}`,
    tools: [["read_file"], ["write_file", "terminal"], ["search_files", "patch"], ["terminal"]][index % 4] ?? [],
    paths: index % 3 === 0 ? [`${PROJECT}/${noun}/file${index}.txt`] : [],
    commands: index % 4 === 3 ? [{ command: `cat ${noun}.log`, exit: 0 }] : [],
  });
}

/** Answer of the model to a prompt. */
export type Distiller = (prompt: string) => string;

export type Bench = {
  readonly home: string;
  readonly clock: ManualClock;
  readonly ledger: LearningLedger;
  readonly ports: LoopPorts;
  readonly notices: string[];
  readonly prompts: string[];
};

export function bench(home: string, distiller: Distiller): Bench {
  const clock = new ManualClock(START);
  const ledger = new LearningLedger(home, clock);
  const notices: string[] = [];
  const prompts: string[] = [];
  const ports = {
    home,
    clock,
    ledger,
    index: {},
    isOpen: () => false,
    log: () => undefined,
    settings: () => ({ enabled: true, consolidation: true, distillation: true }),
    notify: (message: string | undefined) => void notices.push(message ?? ""),
    model: {
      isAvailable: async () => true,
      ask: async (_task: string, messages: readonly { readonly content?: unknown }[]) => {
        const prompt = String(messages.at(-1)?.content);
        prompts.push(prompt);
        return { ok: true, text: distiller(prompt) };
      },
    },
  } as unknown as LoopPorts;
  return { home, clock, ledger, ports, notices, prompts };
}

export async function store(home: string, episodes: readonly Episode[]): Promise<void> {
  for (const each of episodes) await writeEpisode(home, each);
}

/** Commands that passed in the best session of a prompt. */
export function passedIn(prompt: string): readonly string[] {
  const best = /Best session:\n([\s\S]*?)(?:\n\n|$)/.exec(prompt)?.[1] ?? "";
  return [...best.matchAll(/^- ran `(.+)`: exit 0$/gm)].map(([, command = ""]) => command);
}

/** A good distiller: the passed commands of the best session in order, as one statement. */
export const faithful: Distiller = (prompt) => {
  const steps = passedIn(prompt).map((command) => `\`${command}\``);
  return JSON.stringify({
    name: "",
    description: "Steps of a repeated task.",
    applicable_when: [],
    deltas: [{ op: "add", text: `Run in this order: ${steps.join(", then ")}.` }],
  });
};

/** Contents of the learnt files by path; ids and times of the ledger are left out. */
export function filesOf(home: string): Readonly<Record<string, string>> {
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const texts = files.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const text = readFileSync(path, "utf8").replaceAll(/"id":"[0-9a-f]{12}",/g, "");
    const isLedger = path.endsWith("ledger.jsonl"); // without a line that a kill cut off
    return [relative(home, path), isLedger ? text.replaceAll(/^.*[^}\n]\n/gm, "") : text] as const;
  });
  return Object.fromEntries(texts.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Seeded numbers in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A command that never ran: another flag, subcommand, program or path. */
export function invented(command: string, chance: () => number): string {
  const [program = ""] = command.split(" ");
  const forms = [
    `${command} --force`,
    `${program} frobnicate`,
    `zq9-${program}`,
    `${command} src/nowhere.ts`,
    "sudo reboot",
  ];
  return forms[Math.floor(chance() * forms.length)] ?? "";
}
