/** Reads the chunks of OpenAI's chat completions, with the differences of the servers that write them. */
import * as z from "zod";
import { isRecord } from "../../platform/json.ts";
import type { TokenTrace, Usage } from "./wire.ts";

export const text = z.string().nullish();
/** Some servers send numbers as text. A count that cannot be read never costs the answer. */
export const count = z
  .union([z.number(), z.string().regex(/^\d+$/).transform(Number)])
  .nullish()
  .catch(undefined);

/** Text that is not part of the answer. A value of another type is ignored. */
const optional = text.catch(undefined);
/** Some servers number their calls. */
const callId = z.union([text, z.number().transform(String)]);
const calledFunction = z.object({
  name: text,
  /** Some local servers send the object itself. */
  arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
});

const deltaSchema = z.object({
  /** Magistral: parts `text` and `thinking`; a thinking part holds text parts. */
  content: z.unknown().optional(),
  refusal: text,
  /** OpenRouter, Ollama, Groq. */
  reasoning: optional,
  /** DeepSeek, llama.cpp, vLLM. */
  reasoning_content: optional,
  /** Copilot. */
  reasoning_text: optional,
  reasoning_details: z.array(z.unknown()).nullish().catch(undefined),
  /** LiteLLM in front of Anthropic. */
  thinking_blocks: z.unknown().optional(),
  /** Gemini: the signature of a text. */
  extra_content: z.unknown().optional(),
  /** The form of 2023. */
  function_call: calledFunction.nullish(),
  tool_calls: z
    .array(
      z.object({
        index: count,
        id: callId,
        function: calledFunction.nullish(),
        extra_content: z.unknown().optional(),
        provider_specific_fields: z.unknown().optional(),
      }),
    )
    .nullish(),
});

/** Names of vLLM. */
const ids = z.array(z.number().int()).nullish().catch(undefined);
const tokenFields = { token_ids: ids, prompt_token_ids: ids };

const usageSchema = z
  .object({
    prompt_tokens: count,
    completion_tokens: count,
    /** Names of OpenAI's Responses and of Anthropic. */
    input_tokens: count,
    output_tokens: count,
    prompt_tokens_details: z.object({ cached_tokens: count }).nullish().catch(undefined),
    completion_tokens_details: z.object({ reasoning_tokens: count }).nullish().catch(undefined),
    /** DeepSeek. */
    prompt_cache_hit_tokens: count,
    /** Moonshot. */
    cached_tokens: count,
  })
  .nullish()
  .catch(undefined);

/** Only the fields that are read, with loose types: servers differ in everything else. */
const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        index: count,
        delta: deltaSchema.nullish(),
        /** Replaces `delta` without streaming. */
        message: deltaSchema.nullish(),
        /** The answer of servers of completions. */
        text: optional,
        finish_reason: text,
        /** Moonshot. */
        usage: usageSchema,
        ...tokenFields,
        logprobs: z
          .object({ content: z.array(z.object({ logprob: z.number() })).nullish() })
          .nullish()
          .catch(undefined),
      }),
    )
    .nullish(),
  prompt_token_ids: ids,
  usage: usageSchema,
  x_groq: z.object({ usage: usageSchema }).nullish().catch(undefined),
});

type Chunk = z.infer<typeof chunkSchema>;
export type ChunkDelta = z.infer<typeof deltaSchema>;
export type ChunkCall = NonNullable<ChunkDelta["tool_calls"]>[number];

/** Contents of a chunk. `delta` belongs to the first choice. */
export type ReadChunk = {
  readonly delta: ChunkDelta | undefined;
  readonly finishReason: string | undefined;
  readonly usage: Usage | undefined;
  readonly tokens: TokenTrace | undefined;
  /** False for a document that is no part of an answer. */
  readonly isKnown: boolean;
};

/** Throws for an error of the server. */
export function readChunk(raw: unknown): ReadChunk {
  const error = errorIn(raw);
  if (error) throw Object.assign(new Error(String(fieldOf(error, "message") ?? "")), { error });
  const chunk = chunkSchema.parse(raw);
  const { choices, x_groq: groq } = chunk;
  const choice = choices?.find(({ index }) => !index);
  const usage = chunk.usage ?? choice?.usage ?? groq?.usage;
  return {
    isKnown: Boolean(choices ?? usage),
    delta: choice?.delta ?? choice?.message ?? (choice?.text ? { content: choice.text } : undefined),
    finishReason: choice?.finish_reason || undefined,
    usage: usage ? usageOf(usage) : undefined,
    tokens: tokensOf(chunk),
  };
}

function tokensOf({ choices, prompt_token_ids: prompt }: Chunk): TokenTrace | undefined {
  const { token_ids: completionIds, prompt_token_ids: own, logprobs } = choices?.[0] ?? {};
  const probabilities = logprobs?.content?.map(({ logprob }) => logprob);
  const promptIds = own ?? prompt;
  const trace: TokenTrace = {
    ...(promptIds && { promptIds }),
    ...(completionIds && { completionIds }),
    ...(probabilities && { logprobs: probabilities }),
  };
  return Object.keys(trace).length > 0 ? trace : undefined;
}

/** Error in a document: `error`, a list (Gemini), or only a text (FastAPI). error-details.ts reads all of them. */
function errorIn(raw: unknown): unknown {
  if (Array.isArray(raw)) return fieldOf(raw[0], "error");
  const isOnlyText = typeof fieldOf(raw, "message") === "string" || fieldOf(raw, "detail") !== undefined;
  const [choice]: readonly unknown[] = [fieldOf(raw, "choices")].flat();
  return (
    fieldOf(raw, "error") ??
    fieldOf(choice, "error") ??
    (isOnlyText && fieldOf(raw, "choices") === undefined ? raw : undefined)
  );
}

export function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

/** OpenAI's counts are totals: the prompt includes cached tokens, the completion includes reasoning. */
function usageOf(usage: NonNullable<Chunk["usage"]>): Usage {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens;
  return {
    inputTokens: usage.prompt_tokens ?? usage.input_tokens ?? 0,
    outputTokens: usage.completion_tokens ?? usage.output_tokens ?? 0,
    cachedInputTokens: cached ?? 0,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}
