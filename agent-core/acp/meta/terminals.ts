/** Commands in the client's terminals. */

/** `_meta.hermes` of `terminal/create`. */
export type HermesTerminalMeta = {
  /** The client writes every byte of output to this file. */
  readonly outputFile: string;
  /** The command as the user knows it. */
  readonly title: string;
  /** `none`: the program finds the end of its input at once. */
  readonly input: "none" | "open";
  /** The program opens a pseudo-terminal itself: what is typed goes to it as it is, its echo comes back. */
  readonly hasPty: boolean;
  /** What carries it out in a shell of the user; absent where none can: on another machine, in the sandbox. */
  readonly userShell?: HermesUserShell;
};

export type HermesUserShell = {
  /** What is typed there; it was judged as a line of this language. */
  readonly line: string;
  readonly language: "sh" | "powershell";
  /** Variables for that shell; null takes one away. */
  readonly env: Readonly<Record<string, string | null>>;
};

/** `_meta.hermes` of its answer: the processes, so that the agent can see whether they wait for input. */
export type HermesTerminalStarted = { readonly pid: number; readonly marker: string };

/** `_meta.hermes` of the answer to `terminal/wait_for_exit`, of a shell that outlives the command: its folder, absolute. */
export type HermesTerminalEnded = { readonly folder: string };

/** Request of the agent: type into a terminal. The answer's `reason` says why it could not be done. */
export const TERMINAL_INPUT = "_hermes/terminal/input";
export type HermesTerminalInput = { readonly sessionId: string; readonly terminalId: string; readonly text: string };
