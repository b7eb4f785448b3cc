/** What the user says while a turn runs: it reaches the model after the tool calls that run at that moment. */
import type { UserMessage } from "../messages/message.ts";

export class Steering {
  #waiting: UserMessage[] = [];

  add(message: UserMessage): void {
    this.#waiting.push(message);
  }

  /** Gives what waits, once. */
  take(): readonly UserMessage[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }
}
