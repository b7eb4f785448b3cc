/** Waiting for a command: until it exits, waits for input itself, its time is over or the turn is cancelled. */
import type { CommandExit, RunningCommand } from "../../host/terminals/terminals.ts";

export type Ending =
  | { readonly kind: "exited"; readonly exit: CommandExit }
  /** It waits for something to be typed, and has printed nothing for a while. */
  | { readonly kind: "asks" }
  | { readonly kind: "timed-out" }
  | { readonly kind: "cancelled" };

/** Time between two looks at whether it waits for input; a tenth of what it has run, within these bounds. */
const FIRST_LOOK_MS = 800;
const LAST_LOOK_MS = 5_000;

/** Ends nothing itself. Rejects when the host cannot tell how the command ended. */
export async function waitForEnd(
  running: RunningCommand,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<Ending> {
  const { promise, resolve, reject } = Promise.withResolvers<Ending>();
  const cancel = (): void => resolve({ kind: "cancelled" });
  const timer = setTimeout(() => resolve({ kind: "timed-out" }), timeoutSeconds * 1000);
  const watch = new SilenceWatch(running, () => resolve({ kind: "asks" }), reject);
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    return await Promise.race([running.exit.then((exit): Ending => ({ kind: "exited", exit })), promise]);
  } finally {
    clearTimeout(timer);
    watch.stop();
    signal.removeEventListener("abort", cancel);
  }
}

/** Looks from time to time; a command asks when it waits for input and printed nothing since the look before. */
class SilenceWatch {
  readonly #running: RunningCommand;
  readonly #onAsks: () => void;
  readonly #onFailure: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  readonly #begin = performance.now();
  #bytes = -1;
  #stopped = false as boolean;

  constructor(running: RunningCommand, onAsks: () => void, onFailure: (error: unknown) => void) {
    this.#running = running;
    this.#onAsks = onAsks;
    this.#onFailure = onFailure;
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#stopped) return;
    const next = Math.min(LAST_LOOK_MS, Math.max(FIRST_LOOK_MS, (performance.now() - this.#begin) / 10));
    this.#timer = setTimeout(() => void this.#look().then(() => this.#schedule(), this.#onFailure), next);
  }

  async #look(): Promise<void> {
    if (!(await this.#running.waitsForInput())) return;
    const { totalBytes } = await this.#running.read(0, 0);
    if (totalBytes === this.#bytes) this.#onAsks();
    this.#bytes = totalBytes;
  }
}
