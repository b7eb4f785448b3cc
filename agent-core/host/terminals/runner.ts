/** Starting programs: what a backend wants started, and what is known of it then. */
import type { ProcessTree } from "../../platform/children/process-tree.ts";
import type { CommandExit, CommandOutput, OutputPart, WriteOutcome } from "./terminals.ts";

/** A program of this machine that carries out a command. */
export type Launch = {
  readonly program: string;
  readonly args: readonly string[];
  /** Absolute folder of this machine. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The command as the user knows it. */
  readonly title: string;
  readonly input: "none" | "open";
  /** Control characters reach a pseudo-terminal, which knows what they mean. */
  readonly hasPty: boolean;
  readonly outputFile: string;
  /** For a client that would rather type it into a shell of the user; only where that means the same. */
  readonly userShell?: UserShell;
  readonly onOutput: ((text: string) => void) | undefined;
};

/** A command as it is typed into a shell of the user, which needs these variables; null takes one away. */
export type UserShell = {
  readonly line: string;
  readonly language: "sh" | "powershell";
  readonly env: Readonly<Record<string, string | null>>;
};

export type Started = {
  readonly terminalId: string | undefined;
  /** Undefined when the processes cannot be looked at from here. */
  readonly tree: ProcessTree | undefined;
  readonly exit: Promise<CommandExit>;
  /** Where a shell that outlives the command stands once it has ended; absent where each command has one of its own. */
  readonly folderAfter?: Promise<string | undefined>;
  output(): Promise<CommandOutput>;
  read(from: number, maxBytes: number): Promise<OutputPart>;
  write(text: string): Promise<WriteOutcome>;
  kill(): Promise<void>;
  release(): Promise<void>;
};

export type Runner = {
  /** Its terminals are pseudo-terminals already. */
  readonly givesPty: boolean;
  start(launch: Launch, signal: AbortSignal): Promise<Started>;
};

/** What is typed to interrupt a command, and to end its input. */
export const CTRL_C = "\u0003";
export const CTRL_D = "\u0004";
