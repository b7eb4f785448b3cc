/**
 * Requests and answers in the dialect of a server. The server gets its own opaque parts back, and those of no other.
 * Thoughts and calls that its model wrote as text become reasoning and tool calls.
 */
import * as z from "zod";
import type { AssistantMessage, Message } from "../../messages/message.ts";
import { isLoopback } from "../../platform/http/network-settings.ts";
import { originOf, quirksOf } from "../deployments.ts";
import { writtenMarksOf } from "../wire/reasoning-places.ts";
import type { ModelEvent, ModelRequest, Wire } from "../wire/wire.ts";
import { WRITTEN_CALLS, WrittenParts } from "./written-parts.ts";

/** Modes in which a server's model answers over HTTP. */
const SERVED: ReadonlySet<Wire["mode"]> = new Set(["chat_completions", "codex_responses", "anthropic_messages"]);

export async function* speakDialect(
  wire: Wire,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  if (!SERVED.has(wire.mode)) return yield* wire.stream(request, signal);
  const origin = originOf(request.endpoint);
  const messages = withoutTemplateTokens(withoutForeignParts(request.messages, origin), request.endpoint.baseUrl);
  const events = wire.stream({ ...request, messages }, signal);
  const isPlain = request.endpoint.textCalls === "off" || quirksOf(request.endpoint).writesNoCalls === true;
  yield* withOrigin(isPlain ? events : readParts(events, partsOf(request, messages, origin)), origin);
}

function partsOf({ tools }: ModelRequest, messages: readonly Message[], origin: string): WrittenParts {
  const own = messages.filter((message) => message.role === "assistant").filter((message) => message.origin === origin);
  const last = own.at(-1);
  const marks = last && writtenMarksOf(last);
  return new WrittenParts({
    tools,
    // A model that makes real tool calls writes JSON only to show it.
    allowsBareJson: !own.some((message) => message.tool_calls !== undefined && !hasWrittenCalls(message)),
    openThought: marks?.open === "" ? marks : undefined,
  });
}

async function* readParts(events: AsyncIterable<ModelEvent>, parts: WrittenParts): AsyncGenerator<ModelEvent> {
  const take = (event: ModelEvent): readonly ModelEvent[] =>
    event.type === "finish" ? parts.finish(event) : parts.take(event);
  try {
    for await (const event of events) {
      const read = take(withoutTokens(event));
      if (read.length === 0) yield { type: "alive", heldChars: event.type === "text-delta" ? event.text.length : 0 };
      yield* read;
    }
  } catch (error) {
    yield* parts.interrupt();
    throw error;
  }
  yield* parts.interrupt();
}

/** gpt-oss writes tokens of its format after a tool's name (issue 32587 of vLLM). */
function withoutTokens(event: ModelEvent): ModelEvent {
  const nameOf = (name: string): string => name.replace(/<\|.*$/s, "");
  if (event.type === "tool-call-start") return { ...event, name: nameOf(event.name) };
  if (event.type !== "tool-call-end") return event;
  const { call } = event;
  return { ...event, call: { ...call, function: { ...call.function, name: nameOf(call.function.name) } } };
}

/** Names the server of an answer that has calls or a list of opaque parts, even an empty one. */
async function* withOrigin(events: AsyncIterable<ModelEvent>, origin: string): AsyncGenerator<ModelEvent> {
  let hasCalls = false;
  for await (const event of events) {
    hasCalls ||= event.type === "tool-call-end";
    const isOpaque = event.type === "finish" && (hasCalls || event.reasoningDetails !== undefined);
    yield isOpaque ? { ...event, origin } : event;
  }
}

/** Messages without opaque parts of other servers. The same array when there are none. */
function withoutForeignParts(messages: readonly Message[], origin: string): readonly Message[] {
  const isForeign = (message: Message): message is AssistantMessage =>
    message.role === "assistant" && message.origin !== undefined && message.origin !== origin;
  if (!messages.some(isForeign)) return messages;
  return messages.map((message) => (isForeign(message) ? withoutOpaqueParts(message) : message));
}

/** Special tokens of chat templates: a server on this machine may read them in a result as the start of a message. */
const TEMPLATE_TOKEN = /<([|｜])(?=[^<>\s]{1,40}[|｜]>)|\[(?=\/?INST\])/g;

/** Results whose special tokens are broken by a space, for local servers; the same array for others. */
function withoutTemplateTokens(messages: readonly Message[], baseUrl = ""): readonly Message[] {
  if (!isLoopback(URL.parse(baseUrl)?.hostname ?? "")) return messages;
  return messages.map((message) => {
    if (message.role !== "tool" || message.content.search(TEMPLATE_TOKEN) < 0) return message;
    return {
      ...message,
      content: message.content.replaceAll(TEMPLATE_TOKEN, (token) => `${token.charAt(0)} ${token.slice(1)}`),
    };
  });
}

/** The message as any server accepts it. */
export function withoutOpaqueParts({ reasoning_details: _, ...message }: AssistantMessage): AssistantMessage {
  const { tool_calls: calls } = message;
  if (calls === undefined || calls.every(({ extra }) => extra === undefined)) return message;
  return { ...message, tool_calls: calls.map(({ extra: __, ...call }) => call) };
}

const writtenCalls = z.object({ type: z.literal(WRITTEN_CALLS.type) });

function hasWrittenCalls({ reasoning_details: details = [] }: AssistantMessage): boolean {
  return details.some((detail) => writtenCalls.safeParse(detail).success);
}
