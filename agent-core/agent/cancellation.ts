/** Causes of a cancelled turn, in words for the model, the cards and the answer. */

/**
 * Cause of a cancel that is not the user's; undefined for the user's. The user cancels with an `AbortError` or a
 * `RequestError`. Any other error of the signal says what ended the turn.
 */
export function interruptionOf({ reason }: AbortSignal): string | undefined {
  if (reason?.name !== "Error") return undefined;
  // The connection's own reason does not say to the user what happened.
  return reason.message.replace("ACP connection", "the editor or its window was");
}

export function causeOf(signal: AbortSignal): string {
  const interruption = interruptionOf(signal);
  return interruption === undefined ? "cancelled by the user" : `interrupted: ${interruption}`;
}
