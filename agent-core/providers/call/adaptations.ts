/** What a conversation has learnt about its models: what must be left out of requests to them. */
import type { AssistantMessage, ContentPart, Message } from "../../messages/message.ts";
import type { ResolvedModel } from "../resolve.ts";

/** Stands where an image stood that the model cannot take. */
const NO_IMAGE = "[An image was here, which this model cannot see.]";

type Learnt = { readonly parameters: Set<string>; noImages: boolean };

export class Adaptations {
  readonly #models = new Map<string, Learnt>();
  /** Messages before this one go out without their opaque reasoning. */
  #reasoningFrom = 0;

  /** Parameters of the API that this model does not take. */
  parametersOf(model: ResolvedModel): readonly string[] {
    return [...this.#of(model).parameters];
  }

  /** False when it was left out already, so that leaving it out again cannot help. */
  dropParameter(model: ResolvedModel, parameter: string): boolean {
    const { parameters } = this.#of(model);
    if (parameters.has(parameter)) return false;
    parameters.add(parameter);
    return true;
  }

  dropImages(model: ResolvedModel): void {
    this.#of(model).noImages = true;
  }

  /** `count` messages were sent when their reasoning was refused; later reasoning goes out again. */
  dropReasoningBefore(count: number): void {
    this.#reasoningFrom = count;
  }

  /** The messages as this model takes them; the same ones where nothing must change. */
  apply(model: ResolvedModel, messages: readonly Message[]): readonly Message[] {
    const { noImages } = this.#of(model);
    if (!noImages && this.#reasoningFrom === 0) return messages;
    return messages.map((message, index) => {
      if (message.role === "assistant" && index < this.#reasoningFrom) return withoutReasoning(message);
      if (message.role === "user" && noImages && typeof message.content !== "string") {
        return { ...message, content: message.content.map(withoutImage) };
      }
      return message;
    });
  }

  #of({ mode, endpoint, model }: ResolvedModel): Learnt {
    const key = `${mode} ${endpoint.baseUrl} ${model}`;
    const learnt = this.#models.get(key) ?? { parameters: new Set<string>(), noImages: false };
    this.#models.set(key, learnt);
    return learnt;
  }
}

function withoutReasoning({ reasoning_details: _, ...message }: AssistantMessage): AssistantMessage {
  return message;
}

function withoutImage(part: ContentPart): ContentPart {
  return part.type === "text" ? part : { type: "text", text: NO_IMAGE };
}
