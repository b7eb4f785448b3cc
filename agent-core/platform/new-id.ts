/**
 * New random UUID (version 4) for a message, a call or a lock. Never a secret: Node needs 3 ms to load `node:crypto`, which
 * the first request of a session does not wait for.
 */
export function newId(): string {
  const digits = (count: number): string =>
    Math.floor(Math.random() * 16 ** count)
      .toString(16)
      .padStart(count, "0");
  return `${digits(8)}-${digits(4)}-4${digits(3)}-8${digits(3)}-${digits(12)}`;
}
