/** Waiting for a command: until it exits, waits for input, reaches its timeout, or the turn is cancelled. */
import type { CommandExit, RunningCommand } from "../../host/terminals/terminals.ts";

export type Ending =
  | { readonly kind: "exited"; readonly exit: CommandExit }
  /** The command waits for input and has printed nothing for a while. */
  | { readonly kind: "asks" }
  | { readonly kind: "timed-out" }
  | { readonly kind: "cancelled" };

/** Bounds of the time between two checks for a wait for input; the time is a tenth of the run time. */
const FIRST_CHECK_MS = 800;
const LAST_CHECK_MS = 5_000;

/**
 * Does not end the command. The timeout begins anew while `isPaused`. Rejects when the host does not know how the command ended.
 */
export async function waitForEnd(
  running: RunningCommand,
  timeoutSeconds: number,
  signal: AbortSignal,
  isPaused: () => boolean = () => false,
): Promise<Ending> {
  const { promise, resolve, reject } = Promise.withResolvers<Ending>();
  const cancel = (): void => resolve({ kind: "cancelled" });
  const expire = (): void => {
    if (!isPaused()) resolve({ kind: "timed-out" });
    else timer = setTimeout(expire, timeoutSeconds * 1000);
  };
  let timer = setTimeout(expire, timeoutSeconds * 1000);
  const watch = new InputCheck(running, () => resolve({ kind: "asks" }), reject);
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

/** Checks periodically: a command asks when it waits for input and has printed nothing since the last check. */
class InputCheck {
  readonly #running: RunningCommand;
  readonly #onAsks: () => void;
  readonly #onFailure: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  readonly #begin = performance.now();
  #bytes = -1;
  #stopped: boolean = false;

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
    const next = Math.min(LAST_CHECK_MS, Math.max(FIRST_CHECK_MS, (performance.now() - this.#begin) / 10));
    this.#timer = setTimeout(() => void this.#check().then(() => this.#schedule(), this.#onFailure), next);
  }

  async #check(): Promise<void> {
    if (!(await this.#running.waitsForInput())) return;
    const { totalBytes } = await this.#running.read(0, 0);
    if (totalBytes === this.#bytes) this.#onAsks();
    this.#bytes = totalBytes;
  }
}
