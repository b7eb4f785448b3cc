/** One chunk of OpenAI's chat completions, as the many servers that speak it write it. */
import * as z from "zod";
import type { Usage } from "./wire.ts";

const text = z.string().nullish();
const count = z.number().nullish();

const deltaSchema = z.object({
  content: text,
  refusal: text,
  /** OpenRouter, Ollama, Groq. */
  reasoning: text,
  /** DeepSeek, llama.cpp, vLLM. */
  reasoning_content: text,
  reasoning_details: z.array(z.unknown()).nullish(),
  tool_calls: z
    .array(
      z.object({
        index: count,
        id: text,
        function: z
          .object({
            name: text,
            /** Some local servers give the object itself. */
            arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
          })
          .nullish(),
      }),
    )
    .nullish(),
});

/** Only what is read, and loosely: servers differ in everything else. */
const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        delta: deltaSchema.nullish(),
        /** Instead of `delta` where a server does not stream. */
        message: deltaSchema.nullish(),
        finish_reason: text,
      }),
    )
    .nullish(),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count }).nullish(),
      completion_tokens_details: z.object({ reasoning_tokens: count }).nullish(),
      /** DeepSeek. */
      prompt_cache_hit_tokens: count,
      /** Moonshot. */
      cached_tokens: count,
    })
    .nullish(),
  error: z.union([z.string().transform((message) => ({ message })), z.looseObject({ message: text })]).nullish(),
});

type Chunk = z.infer<typeof chunkSchema>;
export type ChunkDelta = z.infer<typeof deltaSchema>;

/** What a chunk says; `delta` is its first choice's. */
export type ReadChunk = {
  readonly delta: ChunkDelta | undefined;
  readonly finishReason: string | undefined;
  readonly usage: Usage | undefined;
};

/** Throws when the server reports an error in the chunk, or when it is no chunk at all. */
export function readChunk(raw: unknown): ReadChunk {
  const { choices, usage, error } = chunkSchema.parse(raw);
  if (error) throw Object.assign(new Error(error.message ?? "an error without a text"), { error });
  const choice = choices?.[0];
  return {
    delta: choice?.delta ?? choice?.message ?? undefined,
    finishReason: choice?.finish_reason || undefined,
    usage: usage ? usageOf(usage) : undefined,
  };
}

/** OpenAI's counts are totals already: cached tokens are part of the prompt, reasoning is part of the completion. */
function usageOf(usage: NonNullable<Chunk["usage"]>): Usage {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens;
  return {
    inputTokens: usage.prompt_tokens ?? 0,
    outputTokens: usage.completion_tokens ?? 0,
    cachedInputTokens: cached ?? 0,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}
