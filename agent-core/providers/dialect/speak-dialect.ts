/**
 * Requests and answers in the dialect of a server. The server gets its own opaque parts back, and those of no other.
 * Thoughts and calls that its model wrote as text become reasoning and tool calls.
 */
import type { AssistantMessage, Message } from "../../messages/message.ts";
import { isLoopback } from "../../platform/http/network-settings.ts";
import { originOf, quirksOf } from "../deployments.ts";
import { WRITTEN_CALLS, writtenMarksOf } from "../wire/reasoning-places.ts";
import type { ModelEvent, ModelRequest, Wire } from "../wire/wire.ts";
import type { WrittenParts } from "./written-parts.ts";

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
  const parts = isPlain ? undefined : await partsOf(request, messages, origin);
  const read = eventReader(parts, origin);
  try {
    for await (const event of events) for (const part of read(event)) yield part;
  } catch (error) {
    yield* parts?.interrupt() ?? [];
    throw error;
  }
  yield* parts?.interrupt() ?? [];
}

/** Reads what the model wrote as text, and names the server of an answer that has calls or a list of opaque parts, even an empty one. */
function eventReader(parts: WrittenParts | undefined, origin: string): (event: ModelEvent) => readonly ModelEvent[] {
  let hasCalls = false;
  const signed = (event: ModelEvent): ModelEvent => {
    hasCalls ||= event.type === "tool-call-end";
    const isOpaque = event.type === "finish" && (hasCalls || event.reasoningDetails !== undefined);
    return isOpaque ? { ...event, origin } : event;
  };
  return (event) => {
    const read = (event.type === "finish" ? parts?.finish(event) : parts?.take(event)) ?? [event];
    if (read.length > 0) return read.map(signed);
    return [{ type: "alive", heldChars: event.type === "text-delta" ? event.text.length : 0 }];
  };
}

/** Loaded with the first request: a second import of a loaded module still costs a tenth of a millisecond. */
let loaded: Promise<typeof import("./written-parts.ts")> | undefined;

async function partsOf({ tools }: ModelRequest, messages: readonly Message[], origin: string): Promise<WrittenParts> {
  loaded ??= import("./written-parts.ts");
  const { WrittenParts } = await loaded;
  const own = messages.filter((message) => message.role === "assistant").filter((message) => message.origin === origin);
  const last = own.at(-1);
  const marks = last && writtenMarksOf(last);
  return new WrittenParts({
    tools,
    // A model that makes real tool calls writes JSON only to show it.
    allowsBareJson: own.every(
      ({ tool_calls: calls, reasoning_details: details = [] }) =>
        calls === undefined || details.some((detail) => Object(detail).type === WRITTEN_CALLS.type),
    ),
    openThought: marks?.open === "" ? marks : undefined,
  });
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

/** The message as any server accepts it; the same one when it has no opaque parts. */
export function withoutOpaqueParts(message: AssistantMessage): AssistantMessage {
  const { reasoning_details: details = [], ...rest } = message;
  const { tool_calls: calls = [] } = message;
  if (calls.some(({ extra }) => extra !== undefined))
    return { ...rest, tool_calls: calls.map(({ extra: _, ...call }) => call) };
  return details.length > 0 ? rest : message;
}
