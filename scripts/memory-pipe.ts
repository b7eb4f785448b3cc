/**
 * One direction of a connection within a process. Web streams would take 4 ms of a start for their code, for their promises, and
 * for the error that each end of a lock makes. The bundles' ACP library uses it (scripts/acp-library.ts).
 */
type Reading = { readonly done: false; readonly value: unknown } | { readonly done: true; readonly value: undefined };

/** The members of a pair of web streams that the library calls. A message that nobody waits for is kept. */
export function memoryPipe() {
  const kept: unknown[] = [];
  let isEnded = false;
  let waiting: PromiseWithResolvers<Reading> | undefined;
  const answer = (reading: Reading): boolean => {
    const reader = waiting;
    waiting = undefined;
    reader?.resolve(reading);
    return reader !== undefined;
  };
  const reader = {
    async read(): Promise<Reading> {
      if (kept.length > 0) return { done: false, value: kept.shift() };
      if (isEnded) return { done: true, value: undefined };
      waiting = Promise.withResolvers();
      return waiting.promise;
    },
    async cancel(): Promise<void> {
      isEnded = true;
      answer({ done: true, value: undefined });
    },
    releaseLock: () => undefined,
  };
  const writer = {
    async write(value: unknown): Promise<void> {
      if (isEnded) throw new Error("ACP connection closed");
      if (!answer({ done: false, value })) kept.push(value);
    },
  };
  return { readable: { getReader: () => reader }, writable: { getWriter: () => writer } };
}
