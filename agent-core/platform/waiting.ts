/** Subscription as VS Code returns it. */
type Subscription = { dispose(): unknown };

/**
 * Resolves with true when `subscribe`'s callback is called, and with false after `timeoutMs`. `subscribe` runs at once;
 * its subscriptions are disposed of in either case. Rejects with any error that `subscribe` throws.
 */
export async function waitForEvent(
  timeoutMs: number,
  subscribe: (onEvent: () => void) => readonly Subscription[],
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), timeoutMs);
  let subscriptions: readonly Subscription[] = [];
  try {
    subscriptions = subscribe(() => resolve(true));
    return await promise;
  } finally {
    clearTimeout(timer);
    for (const subscription of subscriptions) subscription.dispose();
  }
}
