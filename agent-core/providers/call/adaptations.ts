/** Request parts that a conversation's models have refused, and that later requests omit. */
import { callsOf, contentText, type Message, picturesOf } from "../../messages/message.ts";
import { withoutOpaqueParts } from "../dialect/speak-dialect.ts";
import type { ResolvedModel } from "../resolve-model.ts";
import { isOwnServer } from "../stream-model.ts";
import type { ToolSchema } from "../wire/wire.ts";
import type { RefusedRequest } from "./recovery.ts";

/** Replacement of an image for a model without vision. */
const NO_IMAGE = "[An image was here, which this model cannot see.]";
/** Replacements of what was in a refused request. */
const REFUSED = {
  image: "[An image was here. It was left out, because the server refused the request with it.]",
  result:
    "[This result was left out, because the server refused the request with it. Do without it, or get a smaller part of it.]",
  message: "[A message of the user was left out, because the server refused the request with it.]",
} as const;
/** Templates of Gemma, Ministral and others have no system message: "System role not supported", "got system". */
const NAMES_SYSTEM =
  /system[^.]{0,30}(not|unsupported)|got system|(unexpected|unknown|invalid|unsupported)[^.]{0,20}system|\bonly\W{1,2}user\b(?![^.]*system)[^.]{0,40}\broles\b/i;
/** "messages.2.content: Input should be a valid string", "expected a string, got null". */
const NAMES_CONTENT = /\bcontent|\bstring\b|\b(?:null|none)\b/i;
/** "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9", "function_response.name: Name cannot be empty". */
const NAMES_CALL = /call.?id\b|(?:tool|function)[^.]{0,40}(?:\.name|\bname)\b/i;
/** Shorter requests are not refused for their length. Characters of all messages. */
const LONG_CHARS = 24_000;

class Refusals {
  readonly parameters = new Set<string>();
  readonly tools = new Set<string>();
  /** Tools of MCP servers and plugins in answered requests. */
  readonly answeredTools = new Set<string>();
  /** Later requests have simpler schemas of the tools. */
  plainSchemas: boolean = false;
  noImages: boolean = false;
  /** Later requests add reasoning to messages without it. */
  needsReasoning: boolean = false;
  /** Refusals of reasoning. After the second one the model gets no reasoning. */
  reasoningRefusals = 0;
  /** Images of answered requests. Base64 or data URLs. */
  readonly answeredImages = new Set<string>();
  /** Later requests fit strict templates: an answer between a result and a user message, no null, short ids, named results. */
  separatesRoles: boolean = false;
  /** Later requests have the system message in the first message of the user. */
  mergesSystem: boolean = false;
  /** Limit of an answer in tokens that the model accepts; undefined: any. */
  maxTokens: number | undefined;
  answeredChars = 0;
  /** The server has answered, if only with an error. */
  isReached: boolean = false;
}

/** Contents that replace those of messages, by message. */
export type LeftOut = ReadonlyMap<Message, string>;

export class Adaptations {
  readonly #models = new Map<string, Refusals>();
  /** Messages before this index are sent without their opaque reasoning. */
  #reasoningFrom = 0;

  /** Returns false when the parameter is omitted already, so that a repeated request cannot help. */
  dropParameter(model: ResolvedModel, parameter: string): boolean {
    const { parameters } = this.of(model);
    if (parameters.has(parameter)) return false;
    parameters.add(parameter);
    return true;
  }

  /** The tools as this model takes them; the same array when it refuses none. */
  toolsFor(model: ResolvedModel, tools: readonly ToolSchema[]): readonly ToolSchema[] {
    const { tools: refused, plainSchemas } = this.of(model);
    const taken = refused.size === 0 ? tools : tools.filter(({ name }) => !refused.has(name));
    return plainSchemas ? taken.map(plainTool) : taken;
  }

  /** Tools of MCP servers and plugins that no answered request had. */
  newTools(model: ResolvedModel, tools: readonly ToolSchema[]): readonly ToolSchema[] {
    const { answeredTools } = this.of(model);
    return this.toolsFor(model, tools).filter(({ name }) => name.includes("__") && !answeredTools.has(name));
  }

  dropNewTools(model: ResolvedModel, tools: readonly ToolSchema[]): void {
    for (const { name } of this.newTools(model, tools)) this.of(model).tools.add(name);
  }

  /** Remembers a request that got an answer. */
  answered(model: ResolvedModel, messages: readonly Message[], tools: readonly ToolSchema[]): void {
    const known = this.of(model);
    known.isReached = true;
    known.answeredChars = Math.max(known.answeredChars, charsOf(messages));
    for (const image of messages.flatMap(picturesOf)) known.answeredImages.add(image);
    for (const { name } of this.newTools(model, tools)) known.answeredTools.add(name);
  }

  /** Facts for a refusal in the words `said`. `left`: replaced already. */
  factsOf(
    model: ResolvedModel,
    messages: readonly Message[],
    left: LeftOut,
    said: string,
  ): Omit<RefusedRequest, "namesTool" | "hasNewTools"> {
    const chars = charsOf(messages);
    const { answeredChars } = this.of(model);
    const isChat = model.mode === "chat_completions";
    return {
      hasNewImages: this.withoutNewImages(model, messages, left).size > 0,
      longestResult: Math.max(0, ...[...withoutNewResults(messages, left).keys()].map(sizeOf)),
      hasUnusualForm:
        isChat &&
        (messages.some(isBeforeUser) ||
          (NAMES_CALL.test(said) && messages.some(({ role }) => role === "tool")) ||
          (NAMES_CONTENT.test(said) && messages.some(({ content }) => content === null))),
      namesSystem: isChat && NAMES_SYSTEM.test(said),
      hasUnanswered: withoutUnanswered(messages, left).size > 0,
      hasOpaqueParts: messages
        .slice(this.#reasoningFrom)
        .some((message) => message.role === "assistant" && withoutOpaqueParts(message) !== message),
      isLongest: chars > LONG_CHARS && chars > answeredChars,
      isToOwnServer: isOwnServer(model.endpoint),
    };
  }

  /** Messages with pictures that no answered request had, without them: the newest ones, else all. */
  withoutNewImages(model: ResolvedModel, messages: readonly Message[], left: LeftOut): LeftOut {
    const { answeredImages, noImages } = this.of(model);
    const isNew = (message: Message): boolean =>
      !left.has(message) && picturesOf(message).some((image) => !answeredImages.has(image));
    const all = noImages ? [] : messages.filter(isNew);
    const newest = sinceAnswer(messages).filter((message) => all.includes(message));
    return new Map(
      (newest.length > 0 ? newest : all).map((message) => [
        message,
        `${contentText(message.content, "\n\n")}\n${REFUSED.image}`,
      ]),
    );
  }

  /**
   * Omits the reasoning of the first `count` messages. Later reasoning is sent again, unless a model of chat completions
   * refuses it again: such a server refuses the field, not its content.
   */
  dropReasoningBefore(count: number, model: ResolvedModel): void {
    this.#reasoningFrom = count;
    if (model.mode === "chat_completions") this.of(model).reasoningRefusals += 1;
  }

  /** The messages for this model; the same array when nothing changes. */
  apply(model: ResolvedModel, messages: readonly Message[]): readonly Message[] {
    const { noImages, reasoningRefusals } = this.of(model);
    const reasoningFrom = reasoningRefusals > 1 ? messages.length : this.#reasoningFrom;
    if (!noImages && reasoningFrom === 0) return messages;
    return messages.map((message, index): Message => {
      if (message.role === "assistant" && index < reasoningFrom) return withoutOpaqueParts(message);
      if (!noImages || message.role !== "user" || typeof message.content === "string") return message;
      return {
        ...message,
        content: message.content.map((part) => (part.type === "text" ? part : { type: "text", text: NO_IMAGE })),
      };
    });
  }

  /** Refusals of this model, which hold for the rest of the conversation. */
  of({ mode, endpoint, model }: ResolvedModel): Refusals {
    const key = `${mode} ${endpoint.baseUrl} ${model}`;
    const refusals = this.#models.get(key) ?? new Refusals();
    this.#models.set(key, refusals);
    return refusals;
  }
}

type Fields = Readonly<Record<string, unknown>>;
const plainTools = new WeakMap<ToolSchema, ToolSchema>();

/** The same object each time: a request converts each tool once. */
function plainTool(tool: ToolSchema): ToolSchema {
  const plain = plainTools.get(tool) ?? { ...tool, parameters: plainSchema(tool.parameters) };
  plainTools.set(tool, plain);
  return plain;
}

/** One type everywhere, and neither references, alternatives nor limits: the tool's own check knows those. */
function plainSchema(written: unknown): Record<string, unknown> {
  const { type, description, properties, required, items }: Fields = Object(written);
  const named = [type].flat().find((each) => each !== "null") ?? (properties === undefined ? "string" : "object");
  const inner = Object.entries(Object(properties)).map(([key, each]) => [key, plainSchema(each)]);
  return {
    type: named,
    ...(description !== undefined && { description }),
    ...(named === "object" && { properties: Object.fromEntries(inner), ...(required !== undefined && { required }) }),
    ...(named === "array" && { items: plainSchema(items) }),
  };
}

function sinceAnswer(messages: readonly Message[]): readonly Message[] {
  return messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
}

/** Tool results that no answer has followed, left out. */
export function withoutNewResults(messages: readonly Message[], left: LeftOut): LeftOut {
  return leaving(
    sinceAnswer(messages).filter(({ role }) => role === "tool"),
    REFUSED.result,
    left,
  );
}

/** User messages that another one follows, because their turns failed. The messages are not repaired yet. */
export function withoutUnanswered(messages: readonly Message[], left: LeftOut): LeftOut {
  const isUsers = (message: Message | undefined): boolean => message?.role === "user" && message.synthetic !== true;
  const unanswered = messages.filter((message, index) => {
    const next = messages.slice(index + 1).find((each) => each.role !== "user" || each.synthetic !== true);
    return isUsers(message) && isUsers(next);
  });
  return leaving(unanswered, REFUSED.message, left);
}

function leaving(messages: readonly Message[], content: string, left: LeftOut): LeftOut {
  const present = messages.filter((message) => (left.get(message) ?? message.content) !== content);
  return new Map(present.map((message) => [message, content]));
}

/** A result before a user message. The wire moves the result's images into one. */
function isBeforeUser(message: Message, index: number, messages: readonly Message[]): boolean {
  return message.role === "tool" && (message.images !== undefined || messages[index + 1]?.role === "user");
}

/** Sizes of messages: a session counts the same ones after each answer. */
const sizes = new WeakMap<Message, number>();

function charsOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + sizeOf(message), 0);
}

function sizeOf(message: Message): number {
  const known = sizes.get(message);
  if (known !== undefined) return known;
  const text = contentText(message.content, "\n\n");
  const chars = callsOf(message).reduce((sum, call) => sum + call.function.arguments.length, text.length);
  sizes.set(message, chars);
  return chars;
}
