/** One event of Anthropic's message stream, as the API and the endpoints compatible with it write it. */
import * as z from "zod";

const text = z.string().nullish();
const count = z.number().nullish();

const usageSchema = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    output_tokens_details: z.object({ thinking_tokens: count }).nullish(),
  })
  .nullish();

/** Blocks of all types in one shape: those of types that are not known are passed over, not refused. */
const blockSchema = z.object({
  type: z.string(),
  text,
  thinking: text,
  signature: text,
  data: text,
  id: text,
  name: text,
  /** Empty in a stream, where it arrives in pieces; some servers write an empty string instead. */
  input: z.record(z.string(), z.unknown()).nullish().catch(undefined),
});

const deltaSchema = z.object({ type: z.string(), text, thinking: text, signature: text, partial_json: text });

const endSchema = z.object({
  stop_reason: text,
  stop_details: z.object({ explanation: text }).nullish(),
});

const knownEvents = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message_start"), message: z.object({ usage: usageSchema }).nullish() }),
  z.object({ type: z.literal("content_block_start"), index: z.number(), content_block: blockSchema }),
  z.object({ type: z.literal("content_block_delta"), index: z.number(), delta: deltaSchema }),
  z.object({ type: z.literal("content_block_stop"), index: z.number() }),
  z.object({ type: z.literal("message_delta"), delta: endSchema, usage: usageSchema }),
  z.object({ type: z.literal("message_stop") }),
]);

/** The whole answer in one document, from a server or proxy that does not stream. */
const documentSchema = endSchema.extend({ content: z.array(blockSchema), usage: usageSchema });

const envelopeSchema = z.looseObject({
  type: z.string().nullish(),
  error: z.union([z.string().transform((message) => ({ message })), z.looseObject({ message: text })]).nullish(),
});

export type StreamEvent = z.infer<typeof knownEvents>;
export type Block = z.infer<typeof blockSchema>;
export type BlockDelta = z.infer<typeof deltaSchema>;
export type Counts = NonNullable<z.infer<typeof usageSchema>>;

const knownTypes = new Set<string>(knownEvents.options.map(({ shape }) => shape.type.value));

/**
 * The events that `raw` stands for: one, none when its type is not known (`ping`, and those still to be invented), or
 * all of them when it is a whole answer. Throws when the server reports an error, or when it is no event at all.
 */
export function readEvents(raw: unknown): readonly StreamEvent[] {
  const { type, error } = envelopeSchema.parse(raw);
  if (error) throw Object.assign(new Error(error.message ?? "an error without a text"), { error });
  if (!type) throw new SyntaxError("an event without a type");
  if (type === "message") return eventsOfDocument(raw);
  return knownTypes.has(type) ? [knownEvents.parse(raw)] : [];
}

function eventsOfDocument(raw: unknown): readonly StreamEvent[] {
  const { content, usage, ...delta } = documentSchema.parse(raw);
  return [
    ...content.flatMap((block, index): readonly StreamEvent[] => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta, usage },
    { type: "message_stop" },
  ];
}
