/**
 * Makes a history valid for any provider: the system message first, then user and assistant alternately, with one result
 * for each tool call. Only the request is repaired; the journal keeps the original.
 */
import type { AssistantMessage, ContentPart, Message, ToolMessage, UserMessage } from "./message.ts";

const MISSING_RESULT = "Error: this call has no recorded result; it was interrupted before it finished.";

/** Returns a valid copy; a valid history keeps its message objects. */
export function repairMessages(messages: readonly Message[]): readonly Message[] {
  return isValid(messages) ? messages : repaired(messages);
}

/** One pass without copies: most requests of a long conversation need no repair. */
function isValid(messages: readonly Message[]): boolean {
  const seen = new Set<string>();
  /** Ids of calls without a result, the next one last. */
  let open: string[] = [];
  const isInOrder = (message: Message, index: number): boolean => {
    if (message.role === "tool") return open.pop() === message.tool_call_id;
    if (open.length > 0 || !mayFollow(messages[index - 1], message) || isEmpty(message)) return false;
    if (message.role === "assistant") open = (message.tool_calls ?? []).map(({ id }) => id).reverse();
    return open.every((id) => !seen.has(id) && seen.add(id));
  };
  return messages.every(isInOrder) && open.length === 0;
}

function mayFollow(previous: Message | undefined, { role }: Message): boolean {
  return role === "system" ? previous === undefined : role !== previous?.role;
}

function isEmpty(message: Message): boolean {
  if (message.role !== "assistant") return false;
  return message.tool_calls === undefined ? !message.content : message.tool_calls.length === 0;
}

function repaired(messages: readonly Message[]): readonly Message[] {
  const systems = messages.filter((message) => message.role === "system");
  const paired = pairResults(messages.filter((message) => message.role !== "system"));
  return [...systems.slice(0, 1), ...mergeNeighbours(paired)];
}

/** Moves each result behind its call, drops results without a call, and adds missing results. */
function pairResults(messages: readonly Message[]): readonly Message[] {
  const results = new Map<string, ToolMessage>();
  for (const message of messages) {
    if (message.role === "tool" && !results.has(message.tool_call_id)) results.set(message.tool_call_id, message);
  }
  const answered = new Set<string>();
  return messages.flatMap((message): readonly Message[] => {
    if (message.role === "tool") return [];
    if (message.role !== "assistant") return [message];
    return withResults(message, results, answered);
  });
}

function withResults(
  message: AssistantMessage,
  results: ReadonlyMap<string, ToolMessage>,
  answered: Set<string>,
): readonly Message[] {
  const { tool_calls: calls, ...rest } = message;
  const open = (calls ?? []).filter((call) => !answered.has(call.id));
  for (const call of open) answered.add(call.id);
  if (open.length > 0) {
    const kept = open.length === calls?.length ? message : { ...rest, tool_calls: open };
    const missing = { role: "tool", content: MISSING_RESULT } as const;
    return [kept, ...open.map(({ id }) => results.get(id) ?? { ...missing, tool_call_id: id })];
  }
  if (rest.content === null || rest.content === "") return [];
  return calls === undefined ? [message] : [rest];
}

function mergeNeighbours(messages: readonly Message[]): readonly Message[] {
  const merged: Message[] = [];
  for (const message of messages) {
    const previous = merged.at(-1);
    if (previous?.role === "user" && message.role === "user") {
      merged[merged.length - 1] = mergeUsers(previous, message);
    } else if (previous?.role === "assistant" && message.role === "assistant") {
      merged[merged.length - 1] = mergeAssistants(previous, message);
    } else {
      merged.push(message);
    }
  }
  return merged;
}

function mergeUsers(first: UserMessage, second: UserMessage): UserMessage {
  if (typeof first.content === "string" && typeof second.content === "string") {
    return { role: "user", content: joinTexts(first.content, second.content) };
  }
  return { role: "user", content: [...contentParts(first), ...contentParts(second)] };
}

/**
 * `first` has no calls, because results always follow a message with calls. The opaque parts of another server than the
 * second message's are dropped.
 */
function mergeAssistants(first: AssistantMessage, second: AssistantMessage): AssistantMessage {
  const earlier = first.origin === second.origin ? first : { ...first, reasoning: "", reasoning_details: [] };
  const reasoning = joinTexts(earlier.reasoning ?? "", second.reasoning ?? "");
  const details = [...(earlier.reasoning_details ?? []), ...(second.reasoning_details ?? [])];
  return {
    role: "assistant",
    content: joinTexts(first.content ?? "", second.content ?? "") || null,
    ...(second.tool_calls && { tool_calls: second.tool_calls }),
    ...(reasoning && { reasoning }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(second.origin !== undefined && { origin: second.origin }),
  };
}

function contentParts(message: UserMessage): readonly ContentPart[] {
  return typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
}

function joinTexts(first: string, second: string): string {
  if (first === "" || second === "") return first + second;
  return `${first}\n\n${second}`;
}
