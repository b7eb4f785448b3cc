/** A script of the agent, and the reasons that end it. */
import type {
  CommandExit,
  CommandOutput,
  HostTerminals,
  SandboxKind,
  ShellState,
} from "../host/terminals/terminals.ts";
import type { ToolSchema } from "../providers/wire/wire.ts";
import type { ScriptLanguage } from "./hermes-tools.ts";

export type ScriptLimits = {
  /** Run time in seconds, without that of tool calls, which have timeouts of their own and may wait for the user. */
  readonly timeoutSeconds: number;
  readonly maxToolCalls: number;
};

export type Script = {
  readonly code: string;
  readonly language: ScriptLanguage;
  readonly limits: ScriptLimits;
  /** State of the shell that the script starts from. A Python process keeps the variables of its start. */
  readonly shell: ShellState;
  readonly sandbox: SandboxKind | undefined;
  /** Absolute path; receives all output. */
  readonly outputFile: string;
  /** Schemas of the tools that the script may call. */
  readonly tools: readonly ToolSchema[];
  /** True for a script that needs no variables of earlier ones. */
  readonly isFresh: boolean;
};

export type ScriptPorts = {
  readonly terminals: HostTerminals;
  /** Runs a tool call and returns the text for the model. Rejects with the signal's reason. */
  callTool(name: string, input: unknown, signal: AbortSignal): Promise<string>;
  onOutput(text: string): void;
};

/** Reason why a script was ended. */
export type ScriptStop = "timeout" | "cancelled" | "flood" | "fork bomb";

export type ScriptEnd = {
  readonly exit: CommandExit;
  /** Undefined when the script ended by itself. */
  readonly stop: ScriptStop | undefined;
  readonly toolCalls: number;
  readonly output: CommandOutput;
  /** One sentence each, about effects of the script that were found or reverted. */
  readonly notes: readonly string[];
};

/** Ends a script for one of several reasons: the first one counts. Its clock stops while tool calls run. */
export class Stopping {
  readonly #controller = new AbortController();
  readonly #stopped = Promise.withResolvers<ScriptStop>();
  readonly #cancel: () => void;
  readonly #turn: AbortSignal;
  #leftMs: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutSeconds: number, turn: AbortSignal) {
    this.#leftMs = timeoutSeconds * 1_000;
    this.#turn = turn;
    this.#cancel = () => this.stop("cancelled");
    turn.addEventListener("abort", this.#cancel, { once: true });
    if (turn.aborted) this.#cancel();
    this.#resume();
  }

  get stopped(): Promise<ScriptStop> {
    return this.#stopped.promise;
  }

  /** Aborted when the script is ended, and when it has ended by itself. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(reason: ScriptStop): void {
    this.#stopped.resolve(reason);
    this.#controller.abort(
      reason === "cancelled" ? this.#turn.reason : new DOMException("The script was ended.", "AbortError"),
    );
  }

  async whilePaused<Value>(work: () => Promise<Value>): Promise<Value> {
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#since;
    try {
      return await work();
    } finally {
      if (!this.signal.aborted) this.#resume();
    }
  }

  /** Ends the calls that a script left unfinished. */
  finish(): void {
    clearTimeout(this.#timer);
    this.#turn.removeEventListener("abort", this.#cancel);
    this.#controller.abort(new DOMException("The script has ended.", "AbortError"));
  }

  #resume(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.stop("timeout"), Math.max(0, this.#leftMs));
  }
}
