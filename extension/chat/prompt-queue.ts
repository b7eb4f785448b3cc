/** Messages typed while the agent works: they wait, or are on their way into the running turn. */
import { randomUUID } from "node:crypto";
import type { QueuedPrompt } from "../../webview/panel-protocol.ts";

export class PromptQueue {
  readonly #onChange: (prompts: readonly QueuedPrompt[]) => void;
  #prompts: readonly QueuedPrompt[] = [];

  /** `onChange` is told of every change. */
  constructor(onChange: (prompts: readonly QueuedPrompt[]) => void) {
    this.#onChange = onChange;
  }

  get prompts(): readonly QueuedPrompt[] {
    return this.#prompts;
  }

  add(text: string): void {
    this.#set([...this.#prompts, { id: randomUUID(), text, state: "waiting" }]);
  }

  /** Without effect on what is on its way already. */
  edit(id: string, text: string): void {
    this.#set(this.#prompts.map((prompt) => (prompt.id === id && isWaiting(prompt) ? { ...prompt, text } : prompt)));
  }

  remove(id: string): void {
    this.#set(this.#prompts.filter((prompt) => prompt.id !== id || !isWaiting(prompt)));
  }

  clear(): void {
    this.#set([]);
  }

  /** Takes the next one that waits out of the queue. */
  take(): QueuedPrompt | undefined {
    const next = this.#prompts.find(isWaiting);
    if (next !== undefined) this.remove(next.id);
    return next;
  }

  toFront(id: string): void {
    const first = this.#prompts.filter((prompt) => prompt.id === id);
    this.#set([...first, ...this.#prompts.filter((prompt) => prompt.id !== id)]);
  }

  /** It is on its way into the running turn; gives its text, undefined when it does not wait (any more). */
  steer(id: string): string | undefined {
    const found = this.#prompts.find((prompt) => prompt.id === id && isWaiting(prompt));
    if (found !== undefined) this.#setState(id, "steering");
    return found?.text;
  }

  /** It could not be brought into the turn, and waits again. */
  unsteer(id: string): void {
    this.#setState(id, "waiting");
  }

  /** The oldest of those on their way has arrived. */
  arrived(): void {
    const first = this.#prompts.find((prompt) => !isWaiting(prompt));
    if (first !== undefined) this.#set(this.#prompts.filter((prompt) => prompt !== first));
  }

  /** The agent is gone, and with it what was on its way. */
  unsteerAll(): void {
    this.#set(this.#prompts.map((prompt) => ({ ...prompt, state: "waiting" })));
  }

  #setState(id: string, state: QueuedPrompt["state"]): void {
    this.#set(this.#prompts.map((prompt) => (prompt.id === id ? { ...prompt, state } : prompt)));
  }

  #set(prompts: readonly QueuedPrompt[]): void {
    this.#prompts = prompts;
    this.#onChange(prompts);
  }
}

function isWaiting({ state }: QueuedPrompt): boolean {
  return state === "waiting";
}
