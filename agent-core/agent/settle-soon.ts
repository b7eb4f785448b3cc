/** Waiting that a cancelled turn outlives. */

/** What a running tool may take to stop by itself after a cancel; a turn must end within 250 ms of it. */
const GRACE_MS = 150;

/** Gives `work`'s outcome, or throws the signal's reason when the work does not stop soon after a cancel. */
export async function settleSoon<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const cancelled = (): void => {
    timer = setTimeout(() => reject(signal.reason), GRACE_MS);
  };
  if (signal.aborted) cancelled();
  else signal.addEventListener("abort", cancelled, { once: true });
  try {
    return await Promise.race([work, overdue]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancelled);
  }
}
