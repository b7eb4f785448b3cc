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

  /** Gives its id. */
  add(text: string): string {
    const id = randomUUID();
    this.#set([...this.#prompts, { id, text, state: "waiting" }]);
    return id;
  }

  /** It is being changed: neither it nor what stands behind it is taken. */
  hold(id: string): void {
    if (this.#prompts.some((prompt) => prompt.id === id && isWaiting(prompt))) this.#setState(id, "editing");
  }

  /** Ends its change. Without effect on what is on its way already. */
  edit(id: string, text: string): void {
    this.#set(
      this.#prompts.map((prompt) =>
        prompt.id === id && !isSteering(prompt) ? { ...prompt, text, state: "waiting" } : prompt,
      ),
    );
  }

  /** Nobody changes any of them: a panel that begins anew has forgotten what was typed. */
  releaseAll(): void {
    if (!this.#prompts.some(({ state }) => state === "editing")) return;
    this.#set(this.#prompts.map((prompt) => (isSteering(prompt) ? prompt : { ...prompt, state: "waiting" })));
  }

  remove(id: string): void {
    this.#set(this.#prompts.filter((prompt) => prompt.id !== id || isSteering(prompt)));
  }

  /** To this place, counted from 0; beyond the end is the end. */
  move(id: string, to: number): void {
    const moved = this.#prompts.find((prompt) => prompt.id === id);
    if (moved === undefined) return;
    const others = this.#prompts.filter((prompt) => prompt !== moved);
    this.#set([...others.slice(0, to), moved, ...others.slice(to)]);
  }

  /** Takes all out, as the session is left that they were written for; gives in order what is not on its way into it. */
  clear(): readonly string[] {
    const texts = this.#prompts.filter((prompt) => !isSteering(prompt)).map(({ text }) => text);
    this.#set([]);
    return texts;
  }

  /** Takes the next one out of the queue; undefined when there is none, or when it is being changed. */
  take(): QueuedPrompt | undefined {
    const next = this.#prompts.find((prompt) => !isSteering(prompt));
    if (next === undefined || !isWaiting(next)) return undefined;
    this.remove(next.id);
    return next;
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
    const first = this.#prompts.find(isSteering);
    if (first !== undefined) this.#set(this.#prompts.filter((prompt) => prompt !== first));
  }

  /** The agent is gone, and with it what was on its way. */
  unsteerAll(): void {
    this.#set(this.#prompts.map((prompt) => (isSteering(prompt) ? { ...prompt, state: "waiting" } : prompt)));
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

function isSteering({ state }: QueuedPrompt): boolean {
  return state === "steering";
}
