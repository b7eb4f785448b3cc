/** Waiting for a command: until it exits, its time is over or the turn is cancelled. */
import type { CommandExit, RunningCommand } from "../../host/host.ts";

export type Ending =
  | { readonly kind: "exited"; readonly exit: CommandExit }
  | { readonly kind: "timed-out" }
  | { readonly kind: "cancelled" };

/** Ends nothing itself. Rejects when the host cannot tell how the command ended. */
export async function waitForEnd(
  running: RunningCommand,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<Ending> {
  const { promise, resolve } = Promise.withResolvers<Ending>();
  const cancel = (): void => resolve({ kind: "cancelled" });
  const timer = setTimeout(() => resolve({ kind: "timed-out" }), timeoutSeconds * 1000);
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    return await Promise.race([running.exit.then((exit): Ending => ({ kind: "exited", exit })), promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}
