/**
 * How a model of Anthropic is told to think. From the API's documentation: version 4.6 and newer decide themselves and
 * take an effort, 3.7 to 4.5 take a budget of tokens, older ones do not think.
 */
import type { OutputConfig, ThinkingConfigParam } from "@anthropic-ai/sdk/resources/messages";
import type { Sampling } from "./wire.ts";

export type ThinkingFields = { readonly thinking?: ThinkingConfigParam; readonly output_config?: OutputConfig };

type Effort = NonNullable<Sampling["reasoningEffort"]>;

/** Version times 100: 4.6 is 406. */
const FIRST_ADAPTIVE = 406;
const FIRST_WITH_BUDGET = 307;

/** Tokens; the API's own floor is 1,024. */
const budgets: Readonly<Record<Effort, number>> = { minimal: 1_024, low: 4_096, medium: 10_240, high: 24_576 };
const SMALLEST_BUDGET = budgets.minimal;
/** A budget comes out of `max_tokens`: so much of these at most, the rest is for the answer. */
const BUDGET_SHARE = 0.5;

const efforts = { minimal: "low", low: "low", medium: "medium", high: "high" } as const satisfies Record<
  Effort,
  string
>;

/** True for models of Anthropic, wherever they are reached. */
export function isClaude(model: string): boolean {
  return /claude/i.test(model);
}

/**
 * `mayBudget` is false when the conversation stands in the middle of tool calls that were made without thinking: models
 * with a budget refuse to begin there.
 */
export function thinkingFields(
  model: string,
  effort: Effort | undefined,
  { maxTokens, mayBudget }: { readonly maxTokens: number; readonly mayBudget: boolean },
): ThinkingFields {
  const version = versionOf(model);
  if (version >= FIRST_ADAPTIVE) {
    return {
      // Without `display` the newer ones think in silence.
      thinking: { type: "adaptive", display: "summarized" },
      ...(effort !== undefined && { output_config: { effort: efforts[effort] } }),
    };
  }
  if (effort === undefined || version < FIRST_WITH_BUDGET || !mayBudget) return {};
  const budget = Math.min(budgets[effort], Math.floor(maxTokens * BUDGET_SHARE));
  return budget < SMALLEST_BUDGET ? {} : { thinking: { type: "enabled", budget_tokens: budget } };
}

/** Compatible endpoints took over the form with a budget; a model of Anthropic without a number is the newest. */
function versionOf(model: string): number {
  if (!isClaude(model)) return FIRST_WITH_BUDGET;
  // A date may follow the version, or stand in the minor version's place.
  const found = /claude-(?:[a-z]+-)?(\d)(?:[.-](\d{1,2}))?(?!\d)/i.exec(model);
  return found === null ? Number.POSITIVE_INFINITY : Number(found[1]) * 100 + Number(found[2] ?? 0);
}
