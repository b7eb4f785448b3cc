/** What is known of models by their names. */

export type ModelInfo = {
  /** Tokens that the model can see. */
  readonly contextWindow: number;
};

/** For models nobody told us about; small enough to be safe with any current one. */
const UNKNOWN: ModelInfo = { contextWindow: 128_000 };

/** First match decides; figures from the providers' public model pages. */
const FAMILIES: readonly (readonly [RegExp, ModelInfo])[] = [
  [/^offline$/, { contextWindow: 128_000 }],
  [/gpt-5|codex/, { contextWindow: 400_000 }],
  [/gpt-4\.1/, { contextWindow: 1_047_576 }],
  [/gpt-4o|o[134](-|$)/, { contextWindow: 200_000 }],
  [/claude/, { contextWindow: 200_000 }],
  [/gemini/, { contextWindow: 1_048_576 }],
];

export function modelInfo(model: string): ModelInfo {
  const name = model.toLowerCase();
  return FAMILIES.find(([family]) => family.test(name))?.[1] ?? UNKNOWN;
}
