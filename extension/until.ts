/** Waiting for something that tells of itself, but not for ever. */

/** What VS Code gives for a listener. */
type Listener = { dispose(): unknown };

/**
 * Resolves with true when `done` is called, with false when that has not been after `limitMs` milliseconds. `listen` is
 * called at once; what it gives is disposed of in either case. Rejects with what `listen` throws.
 */
export async function until(limitMs: number, listen: (done: () => void) => readonly Listener[]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), limitMs);
  let listeners: readonly Listener[] = [];
  try {
    listeners = listen(() => resolve(true));
    return await promise;
  } finally {
    clearTimeout(timer);
    for (const listener of listeners) listener.dispose();
  }
}
