/** What an exit code means where the number alone misleads. */
import type { CommandExit } from "../../host/host.ts";

const CODES: Readonly<Record<number, string>> = {
  126: "found, but cannot be executed",
  127: "command not found",
  130: "interrupted",
  137: "killed, often for lack of memory",
  139: "crashed: segmentation fault",
};

/** Programs whose exit code 1 is an answer, not a failure. */
const ANSWERS_WITH_ONE: readonly (readonly [RegExp, string])[] = [
  [/^\s*(?:grep|rg|egrep|fgrep|git\s+grep)\b/, "no match"],
  [/^\s*(?:diff|cmp|git\s+diff)\b/, "the files differ"],
];

/** `exit code 127: command not found`; the last line of a command's result. */
export function exitNote(command: string, { exitCode, signal }: CommandExit): string {
  if (signal !== null) return `ended by signal ${signal}`;
  if (exitCode === null) return "exit code unknown";
  const meaning = CODES[exitCode] ?? (exitCode === 1 ? answerOf(command) : undefined);
  return meaning === undefined ? `exit code ${exitCode}` : `exit code ${exitCode}: ${meaning}`;
}

function answerOf(command: string): string | undefined {
  if (/[;&|]/.test(command)) return undefined;
  return ANSWERS_WITH_ONE.find(([program]) => program.test(command))?.[1];
}
