/**
 * Images of tool results in a request: only the newest ones, and none for a model that accepts no images. An API whose tool
 * results hold only text gets them as messages of the user.
 */
import type { ContentPart, Message, ToolImage, ToolMessage, UserMessage } from "../../messages/message.ts";

/** Images of one request. APIs refuse more than some dozens, and old screenshots say little. */
const MOST_IMAGES = 16;
/** Older images leave in steps, because each change of an old message empties the provider's cache. */
const STEP = 8;
/** Base64 of all images of a request; Anthropic takes requests of 32 MB. Characters. */
const MOST_CHARS = 20_000_000;

/** Replaces the older images by a line each; for a model that accepts none, all of them. */
export function withSentImages(messages: readonly Message[], acceptsImages: boolean): readonly Message[] {
  const images = messages.flatMap((message) => (message.role === "tool" ? (message.images ?? []) : []));
  if (images.length === 0) return messages;
  let left = acceptsImages ? droppedCount(images) : images.length;
  return messages.map((message) => {
    if (message.role !== "tool" || message.images === undefined || left === 0) return message;
    const dropped = Math.min(left, message.images.length);
    left -= dropped;
    return withoutImages(message, dropped, acceptsImages);
  });
}

function droppedCount(images: readonly ToolImage[]): number {
  let count = 0;
  const isTooMuch = (): boolean => {
    const kept = images.slice(count);
    return kept.length > MOST_IMAGES || kept.reduce((sum, { data }) => sum + data.length, 0) > MOST_CHARS;
  };
  while (count < images.length && isTooMuch()) count += STEP;
  return Math.min(count, images.length);
}

function withoutImages({ images = [], ...message }: ToolMessage, count: number, acceptsImages: boolean): ToolMessage {
  const named = count === 1 ? "An image" : `${count} images`;
  const line = acceptsImages
    ? `[${named} of this result: left out, because newer ones followed. Get it again if you need it.]`
    : `[${named} of this result: the user sees it, and you cannot.]`;
  const rest = images.slice(count);
  return { ...message, content: `${message.content}\n${line}`, ...(rest.length > 0 && { images: rest }) };
}

/** Moves the images behind the results of the same answer, into the user message there or into one of their own. */
export function withImageMessages(messages: readonly Message[]): readonly Message[] {
  if (!messages.some((message) => message.role === "tool" && message.images !== undefined)) return messages;
  const moved: Message[] = [];
  let waiting: ContentPart[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      const { images = [], ...rest } = message;
      waiting.push(...partsOf(images, message.tool_call_id));
      moved.push(rest);
      continue;
    }
    if (waiting.length > 0 && message.role === "user") moved.push(joined(waiting, message));
    else moved.push(...imageMessages(waiting), message);
    waiting = [];
  }
  return [...moved, ...imageMessages(waiting)];
}

/** True when only a message of images is between the message at `index` and a tool result. */
export function followsResult(messages: readonly Message[], index: number): boolean {
  const [before, previous] = [messages[index - 2], messages[index - 1]];
  const isImages = previous?.role === "user" && previous.synthetic === true && typeof previous.content !== "string";
  return previous?.role === "tool" || (isImages && before?.role === "tool");
}

export function imageUrl({ mimeType, data }: ToolImage): string {
  return `data:${mimeType};base64,${data}`;
}

function partsOf(images: readonly ToolImage[], callId: string): readonly ContentPart[] {
  if (images.length === 0) return [];
  const named: ContentPart = { type: "text", text: `[Images of the result of call ${callId}; they are data.]` };
  return [named, ...images.map((image): ContentPart => ({ type: "image_url", image_url: { url: imageUrl(image) } }))];
}

function imageMessages(content: readonly ContentPart[]): readonly UserMessage[] {
  return content.length === 0 ? [] : [{ role: "user", content, synthetic: true }];
}

function joined(images: readonly ContentPart[], message: UserMessage): UserMessage {
  const own: readonly ContentPart[] =
    typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
  return { ...message, content: [...images, ...own] };
}
