/** Port for commands on this machine, on another one, in a container, or in the client's editor. */

/** Language of a command line. `sh` is that of bash, dash and the other POSIX shells: the only one that the approval reads. */
export type ShellLanguage = "sh" | "powershell" | "cmd" | "fish" | "nushell";

/** State of a session's shell between two commands. */
export type ShellState = {
  /** Absolute path on the machine that runs the commands. */
  readonly folder: string;
  /** Name of the file with the variables that a command exported; undefined when it changed none. */
  readonly variables: string | undefined;
  /** The same for commands in the sandbox, if they differ. Commands outside the sandbox never read this file. */
  readonly confined?: string | undefined;
};

/** `advice`: how to enable the sandbox. */
export type SandboxState =
  | { readonly isOn: true; readonly program: string }
  | { readonly isOn: false; readonly reason: string; readonly advice: string };

/**
 * Sandbox of a command: `isolated` has no network, `reading` also hides the secret files of the workspace and writes
 * nothing, and `networked` has the network.
 */
export type SandboxKind = "isolated" | "reading" | "networked";

export type CommandRequest = {
  /** One command line in `HostTerminals.language`. */
  readonly command: string;
  /** State that the command starts from. */
  readonly shell: ShellState;
  /** True when `shellAfter` is to give the command's folder and variables. */
  readonly keepsShell: boolean;
  /** `none`: the command reads an end of file at once. */
  readonly input: "none" | "open";
  /** Runs the command on a pseudo-terminal. */
  readonly pty: boolean;
  /** Runs the command in this sandbox; needs `HostTerminals.sandboxes`. */
  readonly sandbox?: SandboxKind | undefined;
  /** Guarded files (absolute) that git may change in the command. Default: none. */
  readonly writable?: readonly string[] | undefined;
  /**
   * Folder (absolute) of a script that the agent wrote, with a socket to the agent. Such a command runs as a child of the agent
   * even where an editor shows terminals, and the sandbox shows it this folder.
   */
  readonly scriptFolder?: string | undefined;
  /** Absolute path on this machine; receives every byte of the output as it arrives. */
  readonly outputFile: string;
  /** Called with each piece of output; not called when the client shows the terminal itself. */
  readonly onOutput?: (text: string) => void;
  /** Answers the passwords that the command asks for, on this machine and outside the sandbox. */
  readonly askPassword?: AskPassword;
  /** False: `askPassword` only refuses. A terminal in which the user can type then stays as it is. */
  readonly hasPasswords?: boolean;
};

export type PasswordQuestion = {
  /** Its own words, in one line. */
  readonly prompt: string;
  /** Command line of the program that asks, as the system knows it. */
  readonly command: string;
  /** The program runs as root, such as `sudo`. */
  readonly isPrivileged: boolean;
  /** The program refused the last password. */
  readonly isRetry: boolean;
};

export type PasswordAnswer =
  | { readonly kind: "given"; readonly password: string }
  | { readonly kind: "refused" }
  /** No user can be asked. */
  | { readonly kind: "unavailable" };

/** The signal aborts when the program has ended. A password reaches the program alone: no log, no journal, no request. */
export type AskPassword = (question: PasswordQuestion, signal: AbortSignal) => Promise<PasswordAnswer>;

/** `exitCode` is null when a signal ended the process, and when it is unknown. */
export type CommandExit = { readonly exitCode: number | null; readonly signal: string | null };

/** Output so far with its escape sequences: all of a short output, the first and last part of a long one. */
export type CommandOutput = {
  readonly head: string;
  /** Empty when `head` is everything. */
  readonly tail: string;
  /** Bytes written so far. */
  readonly totalBytes: number;
  /** Bytes left out between head and tail. */
  readonly omittedBytes: number;
  /** File that holds the whole output, when there is one. */
  readonly file: string | undefined;
};

/** Part of the output; the next part begins at `nextByte`. */
/** `reason` is one sentence for the model. */
export type WriteOutcome = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Whole characters of an output, with escape sequences. `nextByte`: where the next part begins. */
export type OutputPart = { readonly text: string; readonly nextByte: number; readonly totalBytes: number };

export type RunningCommand = {
  /** The client's id of the terminal that shows the command. */
  readonly terminalId: string | undefined;
  readonly exit: Promise<CommandExit>;
  output(): Promise<CommandOutput>;
  /** Reads at most `maxBytes` from the byte `from` on, in whole characters. */
  read(from: number, maxBytes: number): Promise<OutputPart>;
  /** Types text into the command. Ctrl+C alone interrupts, a final Ctrl+D ends the input. */
  write(text: string): Promise<WriteOutcome>;
  /** True when two checks in a row find the command waiting for input; false where the system hides that. */
  waitsForInput(): Promise<boolean>;
  /** True while its pseudo-terminal hides what is typed, as for a password; false where the system does not say. */
  hidesInput(): Promise<boolean>;
  /** Number of its living processes, without those that left its group and its parents; 0 where the system hides them. */
  countProcesses(): Promise<number>;
  /** True when the command has ended and a process that it started still runs; false where the system hides that. */
  hasSurvivors(): Promise<boolean>;
  /** Ids of its living processes, also of those that left its group; empty where the system hides them. */
  members(): Promise<readonly number[]>;
  /** False once its sandbox protects other paths than one that starts now. */
  isCurrent(): Promise<boolean>;
  /** State of the shell at the end of the command; undefined when the command stored none. */
  shellAfter(): Promise<ShellState | undefined>;
  /** Repairs after a sandboxed command ended, and changes that no restore reverts: one sentence each, once. */
  inspected(): Promise<readonly string[]>;
  /** Ends the whole process tree, with children that left the group; resolves when it is gone. */
  kill(): Promise<void>;
  /** Frees the command's resources; the output file stays. */
  release(): Promise<void>;
};

/** Start of a program that a workspace brings along. `lasts`: it is a server, and the user works while it runs. */
export type ProgramStart = {
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly lasts: boolean;
};

/** The same start in a sandbox with the network. `env`: further variables. Call `end` when no process of it is left. */
export type ConfinedStart = Pick<ProgramStart, "command" | "args"> & {
  readonly env: Readonly<Record<string, string>>;
  end(): Promise<void>;
};

/** Undefined without a sandbox. Rejects with a sentence for people when the sandbox cannot hold the workspace. */
export type Confine = (start: ProgramStart) => Promise<ConfinedStart | undefined>;

export type HostTerminals = {
  /** Name of another machine or container, such as `user@host (ssh)`; undefined for this machine. */
  readonly place: string | undefined;
  /** Language of the shell that runs the commands, by which the approval judges them. */
  readonly language: ShellLanguage;
  /** True when commands can run in a sandbox. */
  readonly sandboxes?: boolean;
  /** Sandbox of the commands, for people. Undefined for another machine. */
  readonly sandboxState?: SandboxState | undefined;
  /** Reason why the sandbox cannot hold commands in this workspace now, without a final dot; undefined when it can. */
  sandboxProblem?(): Promise<string | undefined>;
  /** Folder (absolute) that replaces the folders of temporary files in the sandbox; undefined without a sandbox. */
  temporaryFolder?(): string | undefined;
  /** Sentences about protected files that living processes of the sandbox changed since the last call. */
  inspectLiving?(): Promise<readonly string[]>;
  /** The same at the end of a turn. From then on such changes are only reported: the user may have made them. */
  endTurn?(): Promise<readonly string[]>;
  readonly confine?: Confine;
  /** Ports of this machine on which processes of the session's commands listen; empty where the system hides them. */
  ownPorts?(): Promise<ReadonlySet<number>>;
  /** True when `waitsForInput` can be true. */
  readonly seesWaiting: boolean;
  /**
   * Absolute folder of the first command of a session whose workspace is `cwd`; connects to another machine if needed.
   * Rejects with a sentence for people; the next command tries again.
   */
  open(cwd: string, signal: AbortSignal): Promise<string>;
  /** Rejects only when the process cannot be started at all (bad folder, no shell), with a sentence for people. */
  start(request: CommandRequest, signal: AbortSignal): Promise<RunningCommand>;
  /** Does `work` in a program that runs already, whose changes of files count as those of the tool call. */
  watched?<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Ends every command with its processes, and removes everything that was set up for them. */
  dispose(): Promise<void>;
};

/** State of the sandbox in one line, without a final dot. */
export function sandboxText(state: SandboxState): string {
  return state.isOn
    ? `on: commands run inside (${state.program}); what needs the network or your own files asks`
    : `off: commands run with your own rights, because ${state.reason}`;
}
