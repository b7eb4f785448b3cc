/** Request parts that a conversation's models have refused, and that later requests omit. */
import type { ContentPart, Message, ToolMessage, UserMessage } from "../../messages/message.ts";
import { withoutOpaqueParts } from "../dialect/speak-dialect.ts";
import type { ResolvedModel } from "../resolve-model.ts";
import type { ToolSchema } from "../wire/wire.ts";
import type { RefusedRequest } from "./recovery.ts";

/** Replacement of an image for a model without vision. */
const NO_IMAGE = "[An image was here, which this model cannot see.]";
/** Replacement of a tool result that was in a refused request. */
const REFUSED_RESULT =
  "[This result was left out, because the server refused the request with it. Do without it, or get a smaller part of it.]";
/** Replacement of an image that was in a refused request. */
const REFUSED_IMAGE = "[An image was here. It was left out, because the server refused the request with it.]";
/** Shorter requests are not refused for their length. Characters of all messages. */
const LONG_CHARS = 24_000;

type Refusals = {
  readonly parameters: Set<string>;
  /** Names of tools. */
  readonly tools: Set<string>;
  noImages: boolean;
  needsReasoning: boolean;
  /** Refusals of reasoning. After the second one the model gets no reasoning. */
  reasoningRefusals: number;
  /** Images of answered requests, and of refused ones that are left out. Base64 or data URLs. */
  readonly answeredImages: Set<string>;
  readonly refusedImages: Set<string>;
  /** Ids of the calls whose results are left out. */
  readonly refusedResults: Set<string>;
  /** Texts of the user messages that are left out. */
  readonly refusedTexts: Set<string>;
  separatesRoles: boolean;
  /** Characters of the longest answered request; undefined before the first answer. */
  answeredChars: number | undefined;
  /** The server has answered, if only with an error. */
  isReached: boolean;
};

export class Adaptations {
  readonly #models = new Map<string, Refusals>();
  /** Messages before this index are sent without their opaque reasoning. */
  #reasoningFrom = 0;

  /** Parameters that this model refuses. */
  parametersOf(model: ResolvedModel): readonly string[] {
    return [...this.#of(model).parameters];
  }

  /** Returns false when the parameter is omitted already, so that a repeated request cannot help. */
  dropParameter(model: ResolvedModel, parameter: string): boolean {
    const { parameters } = this.#of(model);
    if (parameters.has(parameter)) return false;
    parameters.add(parameter);
    return true;
  }

  /** The tools without those that this model refuses; the same array when there are none. */
  toolsFor(model: ResolvedModel, tools: readonly ToolSchema[]): readonly ToolSchema[] {
    const refused = this.#of(model).tools;
    return refused.size === 0 ? tools : tools.filter(({ name }) => !refused.has(name));
  }

  dropTool(model: ResolvedModel, name: string): void {
    this.#of(model).tools.add(name);
  }

  /** Later requests add reasoning to messages without it. */
  requireReasoning(model: ResolvedModel): void {
    this.#of(model).needsReasoning = true;
  }

  requiresReasoning(model: ResolvedModel): boolean {
    return this.#of(model).needsReasoning;
  }

  /** Later requests have an assistant message between a tool result and a user message. */
  separateRoles(model: ResolvedModel): void {
    this.#of(model).separatesRoles = true;
  }

  separatesRoles(model: ResolvedModel): boolean {
    return this.#of(model).separatesRoles;
  }

  refusesImages(model: ResolvedModel): boolean {
    return this.#of(model).noImages;
  }

  dropImages(model: ResolvedModel): void {
    this.#of(model).noImages = true;
  }

  /** Remembers a request that got an answer. */
  answered(model: ResolvedModel, messages: readonly Message[]): void {
    const known = this.#of(model);
    known.isReached = true;
    known.answeredChars = Math.max(known.answeredChars ?? 0, charsOf(messages));
    for (const image of imagesOf(messages)) known.answeredImages.add(image);
  }

  reached(model: ResolvedModel): void {
    this.#of(model).isReached = true;
  }

  isReached(model: ResolvedModel): boolean {
    return this.#of(model).isReached;
  }

  /** Facts for a refusal in unknown words. */
  factsOf(model: ResolvedModel, messages: readonly Message[]): Omit<RefusedRequest, "namesTool"> {
    const chars = charsOf(messages);
    const { answeredChars, refusedResults } = this.#of(model);
    return {
      hasNewImages: this.#newImages(model, messages).length > 0,
      longestResult: Math.max(
        0,
        ...newResults(messages).map(({ tool_call_id: id, content }) => (refusedResults.has(id) ? 0 : content.length)),
      ),
      hasUserAfterResult: model.mode === "chat_completions" && messages.some(isUserAfterResult),
      hasUnanswered: unanswered(messages).length > 0,
      isLongest: chars > LONG_CHARS && chars > (answeredChars ?? 0),
    };
  }

  /** Leaves the results out that no answer has followed yet. */
  dropNewResults(model: ResolvedModel, messages: readonly Message[]): void {
    for (const { tool_call_id: id } of newResults(messages)) this.#of(model).refusedResults.add(id);
  }

  /** Leaves the user messages out that got no answer, but for the last one. */
  dropUnanswered(model: ResolvedModel, messages: readonly Message[]): void {
    for (const message of unanswered(messages)) this.#of(model).refusedTexts.add(textOf(message));
  }

  /** Leaves the images out that no answered request had. Returns their number. */
  dropNewImages(model: ResolvedModel, messages: readonly Message[]): number {
    const images = this.#newImages(model, messages);
    for (const image of images) this.#of(model).refusedImages.add(image);
    return images.length;
  }

  #newImages(model: ResolvedModel, messages: readonly Message[]): readonly string[] {
    const { answeredImages, refusedImages, noImages } = this.#of(model);
    if (noImages) return [];
    return imagesOf(messages).filter((image) => !answeredImages.has(image) && !refusedImages.has(image));
  }

  /**
   * Omits the reasoning of the first `count` messages. Later reasoning is sent again, unless a model of chat completions
   * refuses it again: such a server refuses the field, not its content.
   */
  dropReasoningBefore(count: number, model: ResolvedModel): void {
    this.#reasoningFrom = count;
    if (model.mode === "chat_completions") this.#of(model).reasoningRefusals += 1;
  }

  /** The messages for this model; the same array when nothing changes. */
  apply(model: ResolvedModel, messages: readonly Message[]): readonly Message[] {
    const { noImages, reasoningRefusals, refusedImages, refusedResults, refusedTexts } = this.#of(model);
    const reasoningFrom = reasoningRefusals > 1 ? messages.length : this.#reasoningFrom;
    const refused = refusedImages.size + refusedResults.size + refusedTexts.size;
    if (!noImages && reasoningFrom === 0 && refused === 0) return messages;
    const left = new Set<Message>(unanswered(messages).filter((message) => refusedTexts.has(textOf(message))));
    return messages.flatMap((message, index): Message | readonly Message[] => {
      if (left.has(message)) return [];
      if (message.role === "assistant" && index < reasoningFrom) return withoutOpaqueParts(message);
      if (message.role === "tool" && refusedResults.has(message.tool_call_id))
        return { role: "tool", tool_call_id: message.tool_call_id, content: REFUSED_RESULT };
      if (message.role === "tool") return withoutResultImages(message, refusedImages);
      if (message.role !== "user" || typeof message.content === "string") return message;
      return { ...message, content: message.content.map((part) => withoutImage(part, noImages, refusedImages)) };
    });
  }

  #of({ mode, endpoint, model }: ResolvedModel): Refusals {
    const key = `${mode} ${endpoint.baseUrl} ${model}`;
    const refusals = this.#models.get(key) ?? nothingRefused();
    this.#models.set(key, refusals);
    return refusals;
  }
}

function nothingRefused(): Refusals {
  return {
    parameters: new Set(),
    tools: new Set(),
    noImages: false,
    needsReasoning: false,
    reasoningRefusals: 0,
    answeredImages: new Set(),
    refusedImages: new Set(),
    refusedResults: new Set(),
    refusedTexts: new Set(),
    separatesRoles: false,
    answeredChars: undefined,
    isReached: false,
  };
}

function withoutImage(part: ContentPart, noImages: boolean, refused: ReadonlySet<string>): ContentPart {
  if (part.type === "text") return part;
  if (noImages) return { type: "text", text: NO_IMAGE };
  return refused.has(part.image_url.url) ? { type: "text", text: REFUSED_IMAGE } : part;
}

function withoutResultImages(message: ToolMessage, refused: ReadonlySet<string>): ToolMessage {
  const { images = [], ...rest } = message;
  const kept = images.filter(({ data }) => !refused.has(data));
  if (kept.length === images.length) return message;
  return { ...rest, content: `${message.content}\n${REFUSED_IMAGE}`, ...(kept.length > 0 && { images: kept }) };
}

/** Tool results that no answer has followed. */
function newResults(messages: readonly Message[]): readonly ToolMessage[] {
  const added = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
  return added.filter((message) => message.role === "tool");
}

/** User messages that another one follows, because their turns failed. The messages are not repaired yet. */
function unanswered(messages: readonly Message[]): readonly UserMessage[] {
  return messages.flatMap((message, index) => {
    if (message.role !== "user" || message.synthetic === true) return [];
    const next = messages.slice(index + 1).find((each) => each.role !== "user" || each.synthetic !== true);
    return next?.role === "user" ? [message] : [];
  });
}

/** The wire moves a result's images into a user message behind it. */
function isUserAfterResult(message: Message, index: number, messages: readonly Message[]): boolean {
  if (message.role !== "tool") return false;
  return message.images !== undefined || messages[index + 1]?.role === "user";
}

function textOf({ content }: UserMessage): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

function imagesOf(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => {
    if (message.role === "tool") return (message.images ?? []).map(({ data }) => data);
    if (message.role !== "user" || typeof message.content === "string") return [];
    return message.content.flatMap((part) => (part.type === "text" ? [] : [part.image_url.url]));
  });
}

/** Sizes of messages: a session counts the same ones after each answer. */
const sizes = new WeakMap<Message, number>();

function charsOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + sizeOf(message), 0);
}

function sizeOf(message: Message): number {
  const known = sizes.get(message);
  if (known !== undefined) return known;
  const { content } = message;
  const parts =
    typeof content === "string" ? [content] : (content ?? []).map((part) => (part.type === "text" ? part.text : ""));
  const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
  const texts = [...parts, ...calls.map((call) => call.function.arguments)];
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  sizes.set(message, chars);
  return chars;
}
