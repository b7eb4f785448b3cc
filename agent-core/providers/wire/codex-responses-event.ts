/** One event of OpenAI's Responses, as far as it is read; also the document of servers that do not stream. */
import * as z from "zod";
import type { Usage } from "./wire.ts";

const text = z.string().nullish();
const count = z.number().nullish();
const output_index = z.number().int();

const messageSchema = z.object({
  type: z.literal("message"),
  id: text,
  /** `commentary` or `final_answer`; the API asks for it back. */
  phase: text,
  content: z.array(z.object({ type: z.string(), text, refusal: text })).nullish(),
});

const functionCallSchema = z.object({
  type: z.literal("function_call"),
  id: text,
  call_id: text,
  name: text,
  arguments: text,
});

/** Loose: it goes back as it came. */
const reasoningSchema = z.looseObject({
  type: z.literal("reasoning"),
  summary: z.array(z.looseObject({ text })).nullish(),
  content: z.array(z.looseObject({ text })).nullish(),
});

const itemSchemas = [messageSchema, functionCallSchema, reasoningSchema] as const;
const itemSchema = z.discriminatedUnion("type", itemSchemas);

export type OutputItem = z.infer<typeof itemSchema>;

const typedSchema = z.looseObject({ type: z.string() });

/** Items of tools that run at the provider are of no interest; they read as undefined. */
const anyItemSchema = z.unknown().transform((raw): OutputItem | undefined => {
  const { type } = typedSchema.parse(raw);
  return itemSchemas.some(({ shape }) => shape.type.value === type) ? itemSchema.parse(raw) : undefined;
});

const errorSchema = z.looseObject({ code: z.union([z.string(), z.number()]).nullish(), message: text });

const responseSchema = z.object({
  output: z.array(anyItemSchema).nullish(),
  incomplete_details: z.object({ reason: text }).nullish(),
  error: errorSchema.nullish(),
  usage: z
    .object({
      input_tokens: count,
      output_tokens: count,
      input_tokens_details: z.object({ cached_tokens: count }).nullish(),
      output_tokens_details: z.object({ reasoning_tokens: count }).nullish(),
    })
    .nullish(),
});

export type ResponseEnd = z.infer<typeof responseSchema>;

const delta = z.string();

const eventSchemas = [
  z.object({ type: z.literal("response.output_item.added"), output_index, item: anyItemSchema }),
  z.object({ type: z.literal("response.output_item.done"), output_index, item: anyItemSchema }),
  z.object({ type: z.literal("response.output_text.delta"), output_index, delta }),
  z.object({ type: z.literal("response.refusal.delta"), output_index, delta }),
  z.object({
    type: z.literal("response.reasoning_summary_text.delta"),
    output_index,
    summary_index: count,
    delta,
  }),
  /** The reasoning itself, of open models at other servers. */
  z.object({ type: z.literal("response.reasoning_text.delta"), output_index, content_index: count, delta }),
  z.object({ type: z.literal("response.function_call_arguments.delta"), output_index, delta }),
  z.object({ type: z.literal("response.function_call_arguments.done"), output_index, arguments: z.string() }),
  z.object({ type: z.literal("response.completed"), response: responseSchema }),
  z.object({ type: z.literal("response.incomplete"), response: responseSchema }),
  z.object({ type: z.literal("response.failed"), response: responseSchema }),
  /** Flat as documented, or around an error object as it also comes. */
  z.object({ type: z.literal("error"), code: errorSchema.shape.code, message: text, error: errorSchema.nullish() }),
] as const;
const eventSchema = z.discriminatedUnion("type", eventSchemas);

export type ResponsesEvent = z.infer<typeof eventSchema>;

const knownTypes: ReadonlySet<string> = new Set(eventSchemas.map(({ shape }) => shape.type.value));

const envelopeSchema = z.looseObject({ type: text, object: text, status: text, error: z.unknown().optional() });

/** Undefined for events that say nothing we need, known or not. Throws when it is no event at all. */
export function readEvent(raw: unknown): ResponsesEvent | undefined {
  const event = withType(envelopeSchema.parse(raw));
  return knownTypes.has(event.type) ? eventSchema.parse(event) : undefined;
}

/** Documents and the errors of proxies have no type. */
function withType(envelope: z.infer<typeof envelopeSchema>): z.infer<typeof typedSchema> {
  const { type, object, status, error } = envelope;
  if (typeof type === "string") return { ...envelope, type };
  if (object === "response") return { type: `response.${status ?? "completed"}`, response: envelope };
  if (error) return { type: "error", error: typeof error === "string" ? { message: error } : error };
  throw new SyntaxError("an event without a type");
}

/** OpenAI's counts are totals already: cached tokens are part of the input, reasoning is part of the output. */
export function usageOf({ usage }: ResponseEnd): Usage | undefined {
  if (!usage) return undefined;
  return {
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    cachedInputTokens: usage.input_tokens_details?.cached_tokens ?? 0,
    reasoningTokens: usage.output_tokens_details?.reasoning_tokens ?? 0,
  };
}
