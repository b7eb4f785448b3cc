/** `keyCode` of a key that an input method takes. Safari and some Linux methods set it instead of `isComposing`. */
const TAKEN = 229;

/** True for a key of an input method: its Enter chooses a word, and must not send or choose anything here. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === TAKEN;
}
