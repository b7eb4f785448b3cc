/** Backends plan commands: each command becomes a program of this machine. Runners start that program. */
import type { ProcessTree } from "../../platform/children/process-tree.ts";
import type { CommandRequest, HostTerminals, RunningCommand, ShellState } from "./terminals.ts";

/** Command that is ready to start. */
export type Plan = {
  readonly launch: Launch;
  /** State of the shell at the command's end; called once, after the end. */
  shellAfter(): Promise<ShellState | undefined>;
  /** Absolute files that the shell itself reads, and folders that it writes to. */
  readonly shellFiles?: { readonly read: readonly string[]; readonly written: readonly string[] };
  /** Checks the command's effects after its end; gives a sentence for people and the model for each repair. */
  readonly inspect?: () => Promise<readonly string[]>;
  /** Called when no process of the command is left, or when it could not start. */
  readonly ended?: () => Promise<void>;
  /** See `RunningCommand.isCurrent`. */
  readonly isCurrent?: () => Promise<boolean>;
  /** Ends the processes on another machine; undefined for commands of this machine. */
  readonly killElsewhere: (() => Promise<void>) | undefined;
};

export type Backend = Omit<HostTerminals, "ownPorts" | "seesWaiting" | "start" | "watched"> & {
  /** `givesPty`: the runner has pseudo-terminals. Rejects with a sentence for people. */
  plan(request: CommandRequest, givesPty: boolean, signal: AbortSignal): Promise<Plan>;
};

/** Program of this machine that runs a command. */
export type Launch = {
  readonly program: string;
  readonly args: readonly string[];
  /** Absolute folder of this machine. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** True when `env` is the whole environment; else the program inherits the variables of this process, too. */
  readonly hasWholeEnvironment?: boolean;
  /** Command line for the user. */
  readonly title: string;
  readonly input: "none" | "open";
  /** True when a pseudo-terminal handles control characters. */
  readonly hasPty: boolean;
  readonly outputFile: string;
  readonly onOutput: ((text: string) => void) | undefined;
};

export type Started = Pick<RunningCommand, "terminalId" | "exit" | "output" | "read" | "write" | "kill" | "release"> & {
  /** Undefined when this process cannot see the command's processes. */
  readonly tree: ProcessTree | undefined;
};

export type Runner = {
  /** True when the runner's terminals are pseudo-terminals. */
  readonly givesPty: boolean;
  start(launch: Launch, signal: AbortSignal): Promise<Started>;
};

/** Key that interrupts a command. */
export const CTRL_C = "\u0003";
/** Key that ends a command's input. */
export const CTRL_D = "\u0004";

/** Changes to the agent's environment for its commands. */
export type CommandVariables = {
  /** Names of variables with the agent's own keys, which commands must not see. */
  readonly withheld: readonly string[];
  /** Variables for every command, on other machines too. */
  readonly passed: Readonly<Record<string, string>>;
};

/** No changes. */
export const OWN_VARIABLES: CommandVariables = { withheld: [], passed: {} };
