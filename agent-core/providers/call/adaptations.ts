/** Request parts that a conversation's models have refused, and that later requests omit. */
import type { ContentPart, Message } from "../../messages/message.ts";
import { withoutOpaqueParts } from "../dialect/speak-dialect.ts";
import type { ResolvedModel } from "../resolve-model.ts";

/** Replacement of an image for a model without vision. */
const NO_IMAGE = "[An image was here, which this model cannot see.]";

type Refusals = {
  readonly parameters: Set<string>;
  noImages: boolean;
  needsReasoning: boolean;
  /** Refusals of reasoning. After the second one the model gets no reasoning. */
  reasoningRefusals: number;
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

  /** Later requests add reasoning to messages without it. */
  requireReasoning(model: ResolvedModel): void {
    this.#of(model).needsReasoning = true;
  }

  requiresReasoning(model: ResolvedModel): boolean {
    return this.#of(model).needsReasoning;
  }

  refusesImages(model: ResolvedModel): boolean {
    return this.#of(model).noImages;
  }

  dropImages(model: ResolvedModel): void {
    this.#of(model).noImages = true;
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
    const { noImages, reasoningRefusals } = this.#of(model);
    const reasoningFrom = reasoningRefusals > 1 ? messages.length : this.#reasoningFrom;
    if (!noImages && reasoningFrom === 0) return messages;
    return messages.map((message, index) => {
      if (message.role === "assistant" && index < reasoningFrom) return withoutOpaqueParts(message);
      if (message.role === "user" && noImages && typeof message.content !== "string") {
        return { ...message, content: message.content.map(withoutImage) };
      }
      return message;
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
  return { parameters: new Set(), noImages: false, needsReasoning: false, reasoningRefusals: 0 };
}

function withoutImage(part: ContentPart): ContentPart {
  return part.type === "text" ? part : { type: "text", text: NO_IMAGE };
}
