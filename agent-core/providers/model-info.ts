/** Facts about models, from their names or from their endpoint. */
import * as z from "zod";
import type { ApiMode, Sampling } from "./wire/wire.ts";

/** Facts from an endpoint, which override the table. */
export const modelFacts = z.object({
  /** Tokens of the context, including the answer. */
  contextWindow: z.number().exactOptional(),
  maxOutputTokens: z.number().exactOptional(),
  /** True when the model accepts images. */
  images: z.boolean().exactOptional(),
  /** True when the model reasons and accepts an effort. */
  reasoning: z.boolean().exactOptional(),
  /** US dollars per million tokens; undefined: not known. `cachedInput`: input from the provider's cache. */
  price: z.object({ input: z.number(), output: z.number(), cachedInput: z.number() }).optional(),
});
export type ModelFacts = z.infer<typeof modelFacts>;
export type ModelPrice = NonNullable<ModelFacts["price"]>;
/** Only the price can be unknown. */
export type ModelInfo = Required<Omit<ModelFacts, "price">> & Pick<ModelFacts, "price">;

/** Values for unknown models: small enough for any current one. */
const UNKNOWN: ModelInfo = {
  contextWindow: 128_000,
  maxOutputTokens: 8_192,
  images: false,
  reasoning: false,
};

type Family = readonly [name: RegExp, facts: ModelFacts];

/** A family of models with vision. Windows in tokens; prices in dollars per million tokens: input, output, cached input. */
function family(
  name: RegExp,
  window: readonly [context: number, output: number],
  price?: readonly [input: number, output: number, cachedInput: number],
  more: ModelFacts = {},
): Family {
  const [contextWindow, maxOutputTokens] = window;
  const [input, output, cachedInput] = price ?? [];
  const known = input !== undefined && output !== undefined && cachedInput !== undefined;
  return [
    name,
    { contextWindow, maxOutputTokens, images: true, ...(known && { price: { input, output, cachedInput } }), ...more },
  ];
}

const THINKS: ModelFacts = { reasoning: true };
const TEXT: ModelFacts = { images: false };
const THINKS_IN_TEXT: ModelFacts = { reasoning: true, images: false };

/** The first match wins. Figures from the providers' public model and price pages. */
const families: readonly Family[] = [
  family(/gpt-5(\.\d)?-pro/, [400_000, 128_000], [15, 120, 15], THINKS),
  family(/gpt-5(\.\d)?-chat/, [128_000, 16_384], [1.25, 10, 0.125]),
  family(/gpt-5\.4-nano/, [400_000, 128_000], [0.2, 1.25, 0.02], THINKS),
  family(/gpt-5\.4-mini/, [400_000, 128_000], [0.75, 4.5, 0.075], THINKS),
  family(/gpt-5\.4/, [1_050_000, 128_000], [2.5, 15, 0.25], THINKS),
  family(/gpt-5\.[3-9]/, [400_000, 128_000], undefined, THINKS),
  family(/gpt-5.*nano/, [400_000, 128_000], [0.05, 0.4, 0.005], THINKS),
  family(/gpt-5.*mini|codex-mini/, [400_000, 128_000], [0.25, 2, 0.025], THINKS),
  family(/gpt-5\.2/, [400_000, 128_000], [1.75, 14, 0.175], THINKS),
  family(/gpt-5|codex/, [400_000, 128_000], [1.25, 10, 0.125], THINKS),
  family(/gpt-4-turbo|gpt-4-\d{4}-preview/, [128_000, 4_096], [10, 30, 10]),
  family(/gpt-4(-0|-32k|$)/, [8_192, 4_096], [30, 60, 30], TEXT),
  family(/gpt-3\.5/, [16_385, 4_096], [0.5, 1.5, 0.5], TEXT),
  family(/gpt-4\.1-nano/, [1_047_576, 32_768], [0.1, 0.4, 0.025]),
  family(/gpt-4\.1-mini/, [1_047_576, 32_768], [0.4, 1.6, 0.1]),
  family(/gpt-4\.1/, [1_047_576, 32_768], [2, 8, 0.5]),
  family(/gpt-4o-mini/, [128_000, 16_384], [0.15, 0.6, 0.075]),
  family(/gpt-4o/, [128_000, 16_384], [2.5, 10, 1.25]),
  family(/(^|\/)o3-pro/, [200_000, 100_000], [20, 80, 20], THINKS),
  family(/(^|\/)o[34]-mini/, [200_000, 100_000], [1.1, 4.4, 0.275], THINKS),
  family(/(^|\/)o3(-|$)/, [200_000, 100_000], [2, 8, 0.5], THINKS),
  family(/(^|\/)o1(-|$)/, [200_000, 100_000], [15, 60, 7.5], THINKS),
  family(/gpt-oss/, [131_072, 32_768], undefined, THINKS_IN_TEXT),
  family(/claude-fable-[5-9]/, [1_000_000, 128_000], [10, 50, 1], THINKS),
  family(/claude-opus-5[.-]5/, [1_000_000, 128_000], [4, 20, 0.2], THINKS),
  family(/claude-opus-[5-9]/, [1_000_000, 128_000], [5, 25, 0.5], THINKS),
  family(/claude-sonnet-[5-9]/, [1_000_000, 128_000], [2, 10, 0.2], THINKS),
  family(/claude-[a-z]+-[5-9]/, [1_000_000, 128_000], undefined, THINKS),
  family(/claude-opus-4([.-][01])?(-2\d{7})?(@|$)/, [200_000, 32_000], [15, 75, 1.5], THINKS),
  family(/claude-opus-4/, [200_000, 64_000], [5, 25, 0.5], THINKS),
  family(/claude-haiku-4/, [200_000, 64_000], [1, 5, 0.1], THINKS),
  family(/claude-3[.-]7/, [200_000, 64_000], [3, 15, 0.3], THINKS),
  family(/claude-3[.-]5-haiku/, [200_000, 8_192], [0.8, 4, 0.08]),
  family(/claude-3-haiku/, [200_000, 4_096], [0.25, 1.25, 0.03]),
  family(/claude-3/, [200_000, 8_192], [3, 15, 0.3]),
  family(/claude/, [200_000, 64_000], [3, 15, 0.3], THINKS),
  family(/gemini-3/, [1_048_576, 65_536], [2, 12, 0.2], THINKS),
  family(/gemini-2\.5-flash-lite/, [1_048_576, 65_536], [0.1, 0.4, 0.01], THINKS),
  family(/gemini-2\.5-flash/, [1_048_576, 65_536], [0.3, 2.5, 0.03], THINKS),
  family(/gemini-2\.5/, [1_048_576, 65_536], [1.25, 10, 0.125], THINKS),
  family(/gemini-2\.0/, [1_048_576, 8_192], [0.1, 0.4, 0.025]),
  family(/gemini/, [1_048_576, 65_536]),
  family(/grok-4.*fast/, [2_000_000, 30_000], [0.2, 0.5, 0.05], THINKS),
  family(/grok-code/, [256_000, 10_000], [0.2, 1.5, 0.02], THINKS_IN_TEXT),
  family(/grok-4/, [256_000, 64_000], [3, 15, 0.75], THINKS),
  family(/grok-3/, [131_072, 16_384], [3, 15, 0.75], TEXT),
  family(/deepseek.*(reason|r1)/, [128_000, 64_000], [0.28, 0.42, 0.028], THINKS_IN_TEXT),
  family(/deepseek/, [128_000, 8_192], [0.28, 0.42, 0.028], TEXT),
  family(/kimi-k2.*thinking/, [262_144, 65_536], [0.6, 2.5, 0.15], THINKS_IN_TEXT),
  family(/kimi-k2/, [131_072, 32_768], [0.6, 2.5, 0.15], TEXT),
  family(/glm-4\.[5-9]/, [131_072, 32_768], [0.6, 2.2, 0.11], THINKS_IN_TEXT),
  family(/minimax-m2/, [204_800, 65_536], [0.3, 1.2, 0.03], THINKS_IN_TEXT),
  family(/qwen3-coder/, [262_144, 65_536], undefined, TEXT),
  family(/qwen3-vl/, [131_072, 32_768]),
  family(/qwen3/, [131_072, 32_768], undefined, THINKS_IN_TEXT),
  family(/devstral|codestral/, [131_072, 32_768], undefined, TEXT),
  family(/mistral-(large|medium|small)|pixtral/, [131_072, 16_384]),
  family(/magistral/, [131_072, 32_768], undefined, THINKS),
  family(/llama-?4/, [1_048_576, 16_384]),
  family(/llama-?3\.[1-3]/, [131_072, 8_192], undefined, TEXT),
];

/**
 * Facts by name, with or without its maker (`openai/gpt-4.1`). Unknown models get cautious values. `reported`: facts from
 * the endpoint.
 */
export function modelInfo(model: string, reported: ModelFacts = {}): ModelInfo {
  return { ...UNKNOWN, ...knownFacts(model), ...reported };
}

/** Families by name: each step of a turn asks for the same model several times. */
const familyOf = new Map<string, ModelFacts | undefined>();

function knownFacts(model: string): ModelFacts | undefined {
  if (!familyOf.has(model)) {
    const name = model.toLowerCase();
    familyOf.set(model, families.find(([pattern]) => pattern.test(name))?.[1]);
  }
  return familyOf.get(model);
}

/** True for the offline interpreter, and for a model that is known to take no images. An unknown model may take them. */
export function refusesImages(
  { mode, model }: { readonly mode: string; readonly model: string },
  { images }: ModelFacts,
): boolean {
  return mode === "offline" || (images ?? knownFacts(model)?.images) === false;
}

/**
 * Names of OpenAI's reasoning models: o-series, gpt-5 and later, codex; also with a maker (`openai/o3`) or fine-tuned
 * (`ft:o4-mini:…`). OpenAI's APIs accept other options for them.
 */
const REASONING = /(^|[/:])(o\d|gpt-([5-9]|1\d))(?![a-z\d])|codex/;
/** Models with such a name that do not reason. */
const CHAT = /-chat(-|$)/;
/** Only the first models of the gpt-5 family accept the effort `minimal`. */
const MINIMAL = /(^|[/:])gpt-5(-mini|-nano)?(-\d{4}-\d\d-\d\d)?$/;

/** Case is ignored. */
export function isOpenAiReasoningModel(model: string): boolean {
  const name = model.toLowerCase();
  return REASONING.test(name) && !CHAT.test(name);
}

export function knowsMinimalEffort(model: string): boolean {
  return MINIMAL.test(model.toLowerCase());
}

/** True for Anthropic's models at any provider. */
export function isClaude(model: string): boolean {
  return /claude/i.test(model);
}

/** Sampling options that the API of a model does not take. Its wire does not send them. */
export function unsentSampling(mode: ApiMode, model: string): readonly (keyof Sampling)[] {
  const ofTemperature = ["temperature", "topP"] as const;
  const unsent: Partial<Record<ApiMode, readonly (keyof Sampling)[]>> = {
    codex_responses: [...(isOpenAiReasoningModel(model) ? ofTemperature : []), "stop"],
    anthropic_messages: isClaude(model) ? ofTemperature : [],
    editor_model: [...ofTemperature, "stop", "maxTokens"],
  };
  return unsent[mode] ?? [];
}
