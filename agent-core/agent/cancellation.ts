/** Causes of a cancelled turn, in words for the model and the cards. */

/** Abort reason of a turn whose session closes, for example with its window. */
export const SESSION_CLOSED = new DOMException("", "AbortError");

/** Cause of a cancellation, as a participle. */
export function causeOf({ reason }: AbortSignal): string {
  if (reason !== SESSION_CLOSED) return "cancelled by the user";
  return "interrupted: the session was closed, for example with its window";
}
