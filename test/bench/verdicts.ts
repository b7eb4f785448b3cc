/** Cost of judging a command: the warm corpus, and commands that are made to take long. Floor: parsing alone. */
import { judgeCommand } from "../../agent-core/approval/command-verdict.ts";
import { parseCommand } from "../../agent-core/approval/parse-command.ts";
import { resolvePath } from "../../agent-core/platform/paths.ts";
import { readCorpus } from "../unit/approval/support/corpus.ts";
import { hostileCommands } from "../unit/approval/support/hostile.ts";
import { median, quantile, type Row } from "./measuring.ts";

const CORPORA = ["everyday", "risky", "dangerous", "obfuscated", "decoded", "pairs"];
/** Rounds through the corpus before it is measured, and measured ones; a command's time is their median. */
const WARMING = 5;
const ROUNDS = 15;
const HOSTILE_ROUNDS = 5;

const home = "/home/someone";
const scope = { cwd: "/project/p", roots: ["/project/p"], home, hermesHome: `${home}/.hermes`, resolvePath };

export function measureVerdicts(): readonly Row[] {
  const commands = CORPORA.flatMap(readCorpus).map(({ command }) => command);
  for (let round = 0; round < WARMING; round += 1) for (const command of commands) judged(command);
  const p99 = (measure: (command: string) => number): number => quantile(medians(commands, ROUNDS, measure), 0.99);
  const hostile = Object.entries(hostileCommands());
  const texts = hostile.map(([, command]) => command);
  const verdicts = medians(texts, HOSTILE_ROUNDS, judged);
  const slowest = verdicts.indexOf(Math.max(...verdicts));
  const parses = medians(texts, HOSTILE_ROUNDS, parsed);
  return [
    {
      what: `verdict on ${commands.length} commands of the corpus, p99`,
      ours: p99(judged),
      floor: p99(parsed),
      target: 1,
      unit: "ms",
    },
    {
      what: `slowest of ${hostile.length} hostile commands: ${hostile[slowest]?.[0] ?? ""}`,
      ours: verdicts[slowest] ?? 0,
      floor: parses[slowest] ?? 0,
      target: 50,
      unit: "ms",
    },
  ];
}

function medians(commands: readonly string[], rounds: number, measure: (command: string) => number): number[] {
  return commands.map((command) => median(Array.from({ length: rounds }, () => measure(command))));
}

function judged(command: string): number {
  const begin = performance.now();
  judgeCommand(command, scope);
  return performance.now() - begin;
}

function parsed(command: string): number {
  const begin = performance.now();
  parseCommand(command);
  return performance.now() - begin;
}
