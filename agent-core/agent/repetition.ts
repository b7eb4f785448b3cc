/** A model that makes the same call over and over: it is told, then the user is. */
import type { ToolCall } from "../messages/message.ts";

/** More than this often in a row is a loop; behaviour.md §API modes, Faults. */
const TOLD_AFTER = 10;
/** Calls it may still make after it was told. */
const GRACE = 2;

export class Repetition {
  #last = "";
  #count = 0;

  /** Counts the calls of one answer; gives what is to be done about them. */
  count(calls: readonly ToolCall[]): {
    readonly note: string | undefined;
    readonly isStuck: boolean;
    readonly times: number;
  } {
    const key = JSON.stringify(calls.map(({ function: { name, arguments: json } }) => [name, json]));
    this.#count = key === this.#last ? this.#count + 1 : 1;
    this.#last = key;
    const times = this.#count;
    if (times <= TOLD_AFTER) return { note: undefined, isStuck: false, times };
    const note = `[This same call was made ${times} times in a row. Do something else, or tell the user what is in the way.]`;
    return { note, isStuck: times > TOLD_AFTER + GRACE, times };
  }
}
