/** The port through which commands run, wherever that is: this machine, another one, a container, the client's editor. */

/** Where a session's shell stands between two commands. */
export type ShellState = {
  /** Absolute folder of the machine on which commands run. */
  readonly folder: string;
  /** Names the exported variables that a command left behind; holds no value. Undefined: none were changed. */
  readonly variables: string | undefined;
  /** The same for commands in the sandbox, where they differ: what those leave is never taken over outside. */
  readonly confined?: string | undefined;
};

export type CommandRequest = {
  /** One shell command line, run by bash, else sh; PowerShell on Windows. */
  readonly command: string;
  /** Where it starts from. */
  readonly shell: ShellState;
  /** Whether the folder and the variables that it leaves can be asked for afterwards. */
  readonly keepsShell: boolean;
  /** `none`: reading its input gives the end at once. */
  readonly input: "none" | "open";
  /** Run it on a pseudo-terminal. */
  readonly pty: boolean;
  /** Run it in the sandbox; only where `HostTerminals.sandboxes` says that there is one. */
  readonly sandboxed?: boolean;
  /** Absolute path on this machine that receives every byte of the output, as it comes. */
  readonly outputFile: string;
  /** Called with each piece of output, as it comes; not called when the client shows the terminal itself. */
  readonly onOutput?: (text: string) => void;
};

/** `exitCode` is null when a signal ended the process or when it is unknown. */
export type CommandExit = { readonly exitCode: number | null; readonly signal: string | null };

/** Output so far: whole when short, else its first and last part. Text as written, escape sequences included. */
export type CommandOutput = {
  readonly head: string;
  /** Empty when `head` is everything. */
  readonly tail: string;
  /** Bytes written so far. */
  readonly totalBytes: number;
  /** Bytes between head and tail that are not included. */
  readonly omittedBytes: number;
  /** File that holds the whole output, when there is one. */
  readonly file: string | undefined;
};

/** A piece of the output; `nextByte` is where the next one begins. */
export type OutputPart = { readonly text: string; readonly nextByte: number; readonly totalBytes: number };

/** `reason` is one sentence for the model. */
export type WriteOutcome = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export type RunningCommand = {
  /** The client's id of the terminal that shows it; undefined when nothing shows it. */
  readonly terminalId: string | undefined;
  readonly exit: Promise<CommandExit>;
  output(): Promise<CommandOutput>;
  /** At most `maxBytes` from the byte `from` on, whole characters. */
  read(from: number, maxBytes: number): Promise<OutputPart>;
  /** Types into it. Ctrl+C alone interrupts, a final Ctrl+D ends the input. */
  write(text: string): Promise<WriteOutcome>;
  /** Whether it waits for input, seen twice in a row; false also where that cannot be seen. */
  waitsForInput(): Promise<boolean>;
  /** Whether anything that it started still runs, once it has ended itself; false also where that cannot be seen. */
  hasSurvivors(): Promise<boolean>;
  /** The shell as the command left it, once it has ended; undefined when it left nothing. */
  shellAfter(): Promise<ShellState | undefined>;
  /** What a look through its effects has put right after its end, one sentence each. */
  inspected(): Promise<readonly string[]>;
  /** Ends the whole process tree, children that left the group included; resolves when it is gone. */
  kill(): Promise<void>;
  /** Frees what is held for it; the output file stays. */
  release(): Promise<void>;
};

export type HostTerminals = {
  /** What the place is called when it is not this machine: `user@host (ssh)`. */
  readonly place: string | undefined;
  /** Whether commands can be run in a sandbox. */
  readonly sandboxes?: boolean;
  /** Whether it can be seen there that a command waits for input. */
  readonly seesWaiting: boolean;
  /**
   * Gives the folder of the first command of a session whose workspace is `cwd`, absolute; connects where that is needed
   * to know it. Rejects with a sentence for people; the next command tries again.
   */
  open(cwd: string, signal: AbortSignal): Promise<string>;
  /** Rejects only when the process cannot be started at all (bad folder, no shell), with a sentence for people. */
  start(request: CommandRequest, signal: AbortSignal): Promise<RunningCommand>;
  /** Ends every command with all it started, and whatever was set up for them. */
  dispose(): Promise<void>;
};
