/** Scripts of a session. They run one after the other; Python keeps its variables until it is idle, and ends with the session. */
import type { Interpreter } from "./interpreter.ts";
import type { Script, ScriptEnd, ScriptPorts } from "./script.ts";

/** The same as the browser of a session. */
const IDLE_MINUTES = 10;

export class SessionScripts {
  readonly #idleMs: number;
  #interpreter: Interpreter | undefined;
  /** Reason why variables of earlier scripts are gone, which the model has not read. */
  #lost: string | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;
  #isClosed: boolean = false;

  constructor(idleMs = IDLE_MINUTES * 60_000) {
    this.#idleMs = idleMs;
  }

  /** Runs a script after all earlier ones. Rejects with a sentence for people when it cannot start. */
  run(script: Script, ports: ScriptPorts, signal: AbortSignal): Promise<ScriptEnd> {
    const turn = this.#last.then(() => {
      signal.throwIfAborted();
      const run = (): Promise<ScriptEnd> => this.#run(script, ports, signal);
      return ports.terminals.watched === undefined ? run() : ports.terminals.watched(run);
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Ends the interpreter with the session. No later script runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end();
  }

  async #run(script: Script, ports: ScriptPorts, signal: AbortSignal): Promise<ScriptEnd> {
    clearTimeout(this.#idle);
    if (this.#isClosed) throw new Error("The session has ended.");
    const unfit = await this.#interpreter?.unfitFor(script);
    if (script.isFresh || unfit !== undefined) await this.#end(unfit);
    const lost = script.isFresh ? undefined : this.#lost;
    this.#lost = undefined;
    const { Interpreter } = await import("./interpreter.ts");
    const interpreter = this.#interpreter ?? (await Interpreter.create(script));
    this.#interpreter = interpreter;
    const end = await interpreter.run(script, ports, signal).finally(() => this.#keep(interpreter));
    if (end.stop === "cancelled" && script.language === "python") this.#lost = "the user stopped the last script";
    const note = lost === undefined ? [] : [`it began without the variables of earlier scripts, because ${lost}`];
    return { ...end, notes: [...note, ...end.notes] };
  }

  #keep(interpreter: Interpreter): void {
    if (interpreter.hasEnded) this.#interpreter = undefined;
    else if (this.#isClosed) void this.#end();
    else {
      const reason = `the interpreter was idle for ${IDLE_MINUTES} minutes`;
      this.#idle = setTimeout(() => void this.#end(reason), this.#idleMs).unref();
    }
  }

  async #end(reason?: string): Promise<void> {
    clearTimeout(this.#idle);
    const interpreter = this.#interpreter;
    this.#interpreter = undefined;
    if (interpreter !== undefined) this.#lost = reason;
    await interpreter?.end();
  }
}
