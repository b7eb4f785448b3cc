/** Queue of the messages that the user sends while a turn runs. Each function returns the queue after one change. */
import type { QueuedPrompt } from "../../agent-core/protocol/panel-events.ts";

export type PromptQueue = readonly QueuedPrompt[];

export type PromptContent = Pick<QueuedPrompt, "text" | "attachments">;

/** The content alone. An empty list of attachments is left out. */
export function contentOf({ text, attachments = [] }: PromptContent): PromptContent {
  return { text, ...(attachments.length > 0 && { attachments }) };
}

export function add(queue: PromptQueue, id: string, content: PromptContent): PromptQueue {
  return [...queue, { id, ...contentOf(content), state: "waiting" }];
}

/** The user edits the message: neither it nor any message after it is sent. */
export function hold(queue: PromptQueue, id: string): PromptQueue {
  return change(queue, "waiting", "editing", id);
}

/** Ends the edit. A message that is being steered into the turn keeps its content. */
export function edit(queue: PromptQueue, id: string, content: PromptContent): PromptQueue {
  return queue.map((prompt) =>
    prompt.id === id && isQueued(prompt) ? { id, ...contentOf(content), state: "waiting" } : prompt,
  );
}

/** Ends every edit: a panel that was reloaded has lost its editors. */
export function releaseAll(queue: PromptQueue): PromptQueue {
  return queue.some(({ state }) => state === "editing") ? change(queue, "editing", "waiting") : queue;
}

export function remove(queue: PromptQueue, id: string): PromptQueue {
  return queue.filter((prompt) => prompt.id !== id || !isQueued(prompt));
}

/** Moves a message to index `to`; an index past the end means the end. */
export function move(queue: PromptQueue, id: string, to: number): PromptQueue {
  const moved = queue.find((prompt) => prompt.id === id);
  if (moved === undefined) return queue;
  const others = queue.filter((prompt) => prompt !== moved);
  return [...others.slice(0, to), moved, ...others.slice(to)];
}

/** The message to send next; undefined when there is none or the user edits it. */
export function next(queue: PromptQueue): QueuedPrompt | undefined {
  const first = queue.find(isQueued);
  return first !== undefined && isWaiting(first) ? first : undefined;
}

/** The message with this id if it is waiting. */
export function waiting(queue: PromptQueue, id: string): QueuedPrompt | undefined {
  return queue.find((prompt) => prompt.id === id && isWaiting(prompt));
}

/** The message is being sent into the running turn. */
export function steer(queue: PromptQueue, id: string): PromptQueue {
  return change(queue, "waiting", "steering", id);
}

/** No running turn takes the message any more: it waits again. `id`: default: all that were being sent. */
export function unsteer(queue: PromptQueue, id?: string): PromptQueue {
  return change(queue, "steering", "waiting", id);
}

/** The running turn took the oldest message that was steered into it. */
export function arrived(queue: PromptQueue): PromptQueue {
  const first = queue.find((prompt) => !isQueued(prompt));
  return queue.filter((prompt) => prompt !== first);
}

type State = QueuedPrompt["state"];

/** `id`: default: all in this state. */
function change(queue: PromptQueue, from: State, to: State, id?: string): PromptQueue {
  const isMeant = (prompt: QueuedPrompt): boolean => prompt.state === from && (id === undefined || prompt.id === id);
  return queue.map((prompt) => (isMeant(prompt) ? { ...prompt, state: to } : prompt));
}

function isWaiting({ state }: QueuedPrompt): boolean {
  return state === "waiting";
}

/** False for a message that is being sent into the running turn. */
function isQueued({ state }: QueuedPrompt): boolean {
  return state !== "steering";
}
