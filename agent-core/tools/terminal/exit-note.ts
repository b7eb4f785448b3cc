/** Meaning of an exit code, where the number alone misleads. */
import type { CommandExit } from "../../host/terminals/terminals.ts";

/** Codes of POSIX shells; 128 + N: ended by signal N. */
const CODES: ReadonlyMap<number, string> = new Map([
  [126, "found, but it cannot be executed"],
  [127, "command not found"],
  [130, "interrupted"],
  [134, "aborted by the program itself"],
  [137, "killed, often for lack of memory"],
  [139, "crashed: segmentation fault"],
  [141, "its reader closed the pipe"],
  [143, "terminated"],
]);

/** Programs whose exit code 1 is an answer, not a failure. */
const ANSWERS: readonly (readonly [RegExp, string])[] = [
  [/^(?:[ef]?grep|rg|ag|git grep)\b/, "no match"],
  [/^(?:diff|cmp|git diff)\b/, "they differ"],
  [/^(?:test|\[)(?=\s)/, "the condition is false"],
  [/^(?:pgrep|pkill)\b/, "no such process"],
  [/^(?:which|command -v|type)\b/, "not found"],
];
/** Exit code of the program `timeout` when the time ran out. */
const TIME_RAN_OUT = 124;

/** `exit code 127: command not found`; the number alone where it says enough. */
export function exitNote(command: string, { exitCode, signal }: CommandExit): string {
  if (signal !== null) return `ended by signal ${signal}`;
  if (exitCode === null) return "exit code unknown";
  const meaning = CODES.get(exitCode) ?? answerOf(lastCommand(command), exitCode);
  return meaning === undefined ? `exit code ${exitCode}` : `exit code ${exitCode}: ${meaning}`;
}

function answerOf(command: string | undefined, exitCode: number): string | undefined {
  if (command === undefined) return undefined;
  if (exitCode === TIME_RAN_OUT && /^timeout\b/.test(command)) return "the time given to `timeout` ran out";
  return exitCode === 1 ? ANSWERS.find(([program]) => program.test(command))?.[1] : undefined;
}

/** The simple command that the exit code belongs to; undefined when the command is not simple. */
function lastCommand(command: string): string | undefined {
  const plain = command.replace(/'[^']*'|"(?:[^"\\]|\\.)*"/g, "''").trim();
  if (/&&|\|\||[()`{}<]/.test(plain)) return undefined;
  const last = plain
    .split(/[|;\n]/)
    .at(-1)
    ?.trim();
  return last?.replace(/^(?:\w+=\S*\s+)+/, "");
}
