/** What is known of models by their names. */

export type ModelInfo = {
  /** Tokens that the model can see, its answer included. */
  readonly contextWindow: number;
  /** Tokens that one answer may have. */
  readonly maxOutputTokens: number;
};

/** For models nobody told us about: small enough to be safe with any current one. */
const UNKNOWN: ModelInfo = { contextWindow: 128_000, maxOutputTokens: 8_192 };

/** First match decides; figures from the providers' public model pages. */
const families: readonly (readonly [RegExp, ModelInfo])[] = [
  [/gpt-5|codex/, { contextWindow: 400_000, maxOutputTokens: 128_000 }],
  [/gpt-4\.1/, { contextWindow: 1_047_576, maxOutputTokens: 32_768 }],
  [/gpt-4o/, { contextWindow: 128_000, maxOutputTokens: 16_384 }],
  [/(^|\/)o[134](-|$)/, { contextWindow: 200_000, maxOutputTokens: 100_000 }],
  [/gpt-oss/, { contextWindow: 131_072, maxOutputTokens: 32_768 }],
  [/claude-[a-z]+-[5-9]/, { contextWindow: 1_000_000, maxOutputTokens: 128_000 }],
  [/claude-opus-4([.-][01])?(-2\d{7})?(@|$)/, { contextWindow: 200_000, maxOutputTokens: 32_000 }],
  [/claude-3/, { contextWindow: 200_000, maxOutputTokens: 8_192 }],
  [/claude/, { contextWindow: 200_000, maxOutputTokens: 64_000 }],
  [/gemini/, { contextWindow: 1_048_576, maxOutputTokens: 65_536 }],
  [/grok-4/, { contextWindow: 256_000, maxOutputTokens: 64_000 }],
  [/deepseek/, { contextWindow: 128_000, maxOutputTokens: 8_192 }],
  [/kimi-k2|qwen3|glm-4\.[5-9]/, { contextWindow: 131_072, maxOutputTokens: 32_768 }],
];

/** By the model's name, with or without its maker (`openai/gpt-4.1`); a cautious default for unknown ones. */
export function modelInfo(model: string): ModelInfo {
  const name = model.toLowerCase();
  return families.find(([family]) => family.test(name))?.[1] ?? UNKNOWN;
}
