/** From the chunks of OpenAI's chat completions to model events: a fold, so that a recorded stream is its test. */
import * as z from "zod";
import { PartialToolCalls } from "./partial-tool-calls.ts";
import type { FinishReason, ModelEvent, Usage } from "./wire.ts";

const text = z.string().nullish();

/** Only what is read, and loosely: servers differ in everything else. */
const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: text,
            refusal: text,
            reasoning: text,
            reasoning_content: text,
            reasoning_details: z.array(z.unknown()).nullish(),
            tool_calls: z
              .array(
                z.object({
                  index: z.number().nullish(),
                  id: text,
                  function: z.object({ name: text, arguments: text }).nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
        finish_reason: text,
      }),
    )
    .nullish(),
  usage: z
    .object({
      prompt_tokens: z.number().nullish(),
      completion_tokens: z.number().nullish(),
      prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
      completion_tokens_details: z.object({ reasoning_tokens: z.number().nullish() }).nullish(),
    })
    .nullish(),
  error: z.object({ message: z.string().nullish(), code: z.union([z.string(), z.number()]).nullish() }).nullish(),
});

type Chunk = z.infer<typeof chunkSchema>;
type Delta = NonNullable<NonNullable<NonNullable<Chunk["choices"]>[number]>["delta"]>;

export class ChatCompletionsFold {
  readonly #calls = new PartialToolCalls();
  readonly #details: unknown[] = [];
  #usage: Usage | undefined;
  #reason: string | undefined;
  #refused: string | undefined;

  /** Events of one chunk. Throws when the chunk is an error or no chunk at all. */
  step(raw: unknown): ModelEvent[] {
    const { choices, usage, error } = chunkSchema.parse(raw);
    if (error)
      throw Object.assign(new Error(error.message ?? "error in the stream"), {
        status: Number(error.code) || undefined,
      });
    if (usage) this.#usage = usageOf(usage);
    const [choice] = choices ?? [];
    const events = choice?.delta ? this.#delta(choice.delta) : [];
    if (choice?.finish_reason) {
      this.#reason = choice.finish_reason;
      events.push(...this.#calls.endAll());
    }
    return events;
  }

  /** The last event; undefined when the stream ended without saying why it ended. */
  end(): ModelEvent | undefined {
    if (this.#reason === undefined) return undefined;
    return {
      type: "finish",
      reason: this.#finishReason(this.#reason),
      usage: this.#usage,
      ...(this.#details.length > 0 && { reasoningDetails: this.#details }),
    };
  }

  #delta(delta: Delta): ModelEvent[] {
    const events: ModelEvent[] = [];
    const reasoning = delta.reasoning || delta.reasoning_content;
    if (reasoning) events.push({ type: "reasoning-delta", text: reasoning });
    if (delta.reasoning_details) this.#details.push(...delta.reasoning_details);
    if (delta.content) events.push({ type: "text-delta", text: delta.content });
    if (delta.refusal) {
      this.#refused = (this.#refused ?? "") + delta.refusal;
      events.push({ type: "text-delta", text: delta.refusal });
    }
    for (const [position, piece] of (delta.tool_calls ?? []).entries()) {
      events.push(
        ...this.#calls.add({
          index: piece.index ?? position,
          id: piece.id ?? undefined,
          name: piece.function?.name ?? undefined,
          arguments: piece.function?.arguments ?? undefined,
        }),
      );
    }
    return events;
  }

  /** Servers say "stop" over calls, or invent reasons; what was streamed decides. */
  #finishReason(reason: string): FinishReason {
    if (this.#refused !== undefined || reason === "content_filter") return "refusal";
    if (reason === "length" || reason === "max_tokens") return "length";
    return this.#calls.count > 0 ? "tool_calls" : "stop";
  }
}

function usageOf(usage: NonNullable<Chunk["usage"]>): Usage {
  return {
    inputTokens: usage.prompt_tokens ?? 0,
    outputTokens: usage.completion_tokens ?? 0,
    cachedInputTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}
