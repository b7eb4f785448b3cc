/** Arguments of a call in the history as they are sent. */

/** A call that was cut off stays in the history, with the error as its result; servers with templates parse its JSON. */
export function sentArguments(json: string): string {
  return json.startsWith("{") && json.endsWith("}") ? json : "{}";
}
