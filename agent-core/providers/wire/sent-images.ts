/**
 * The gate for all images of a request: the type of their bytes, only the newest ones, and of tool results none for a model
 * that accepts no images. An API whose tool results hold only text gets theirs as messages of the user.
 */
import { imageTypeOfBase64 } from "../../messages/image-type.ts";
import {
  type ContentPart,
  type Message,
  picturesOf,
  type ToolImage,
  type ToolMessage,
  type UserMessage,
} from "../../messages/message.ts";

/** Images of one request. APIs refuse more than some dozens, and old ones say little. */
const MOST_IMAGES = 16;
/** Older images leave in steps, because each change of an old message empties the provider's cache. */
const STEP = 8;
/** Base64 of all images of a request; Anthropic takes requests of 32 MB. Characters. */
const MOST_CHARS = 20_000_000;

const NOT_READ = "[An image was left out here: it is no PNG, JPEG, WebP or GIF. It can be converted.]";
const OLDER = "[An image was left out here, because newer ones followed. Ask for it again if you need it.]";

/**
 * Replaces older images by a line each, and those of other formats. Those of the last user message stay. For a model that
 * accepts none, all images of results are replaced.
 */
export function withSentImages(messages: readonly Message[], acceptsImages: boolean): readonly Message[] {
  if (!messages.some(hasImages)) return messages;
  const typed = messages.map(withTrueTypes);
  const last = typed.findLastIndex(({ role }) => role === "user");
  const isCounted = (message: Message, index: number): boolean =>
    acceptsImages || (index !== last && message.role === "tool");
  const sizes = typed.flatMap((message, index) =>
    isCounted(message, index) ? picturesOf(message).map(({ length }) => length) : [],
  );
  let left = acceptsImages ? droppedCount(sizes) : sizes.length;
  return typed.map((message, index) => {
    const dropped = isCounted(message, index) ? Math.min(left, picturesOf(message).length) : 0;
    left -= dropped;
    if (dropped === 0 || index === last) return message;
    return message.role === "tool" ? withoutImages(message, dropped, acceptsImages) : withoutParts(message, dropped);
  });
}

function hasImages(message: Message): boolean {
  return picturesOf(message).length > 0;
}

function droppedCount(sizes: readonly number[]): number {
  let count = 0;
  const isTooMuch = (): boolean => {
    const kept = sizes.slice(count);
    return kept.length > MOST_IMAGES || kept.reduce((sum, chars) => sum + chars, 0) > MOST_CHARS;
  };
  while (count < sizes.length && isTooMuch()) count += STEP;
  return Math.min(count, sizes.length);
}

function withoutParts<Kind extends Message>(message: Kind, count: number): Kind {
  if (message.role !== "user" || typeof message.content === "string") return message;
  let left = count;
  const content = message.content.map((part): ContentPart => {
    if (part.type === "text" || left === 0) return part;
    left -= 1;
    return { type: "text", text: OLDER };
  });
  return { ...message, content };
}

/** Messages with the types of their images' bytes. Each request has the same ones again. */
const typedMessages = new WeakMap<Message, Message>();

function withTrueTypes(message: Message): Message {
  if (!hasImages(message)) return message;
  const known = typedMessages.get(message) ?? typedMessage(message);
  typedMessages.set(message, known);
  return known;
}

function typedMessage(message: Message): Message {
  if (message.role === "user" && typeof message.content !== "string")
    return { ...message, content: message.content.map(typedPart) };
  if (message.role !== "tool") return message;
  const { images = [], ...rest } = message;
  const kept = images.flatMap((image) => {
    const mimeType = imageTypeOfBase64(image.data);
    return mimeType === undefined ? [] : [{ ...image, mimeType }];
  });
  const content = kept.length === images.length ? message.content : `${message.content}\n${NOT_READ}`;
  return { ...rest, content, ...(kept.length > 0 && { images: kept }) };
}

function typedPart(part: ContentPart): ContentPart {
  const data = part.type === "text" ? undefined : /^data:[^,]*;base64,(.*)/s.exec(part.image_url.url)?.[1];
  if (part.type === "text" || data === undefined) return part;
  const mimeType = imageTypeOfBase64(data);
  if (mimeType === undefined) return { type: "text", text: NOT_READ };
  return { ...part, image_url: { url: imageUrl({ mimeType, data }) } };
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
