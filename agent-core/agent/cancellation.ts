/** Causes of a cancelled turn, in words for the model and the cards. */

/** The user cancels with an `AbortError` or a `RequestError`. Any other error of the signal says what ended the turn. */
export function causeOf({ reason }: AbortSignal): string {
  if (reason?.name !== "Error") return "cancelled by the user";
  // The connection's own reason does not say to the user what happened.
  return `interrupted: ${reason.message.replace("ACP connection", "the editor or its window was")}`;
}
