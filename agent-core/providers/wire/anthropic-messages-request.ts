/** Builds the body of Anthropic's Messages API. Pure: equal requests give equal bytes. */
import type {
  CacheControlEphemeral,
  ContentBlockParam,
  MessageCreateParamsStreaming,
  OutputConfig,
  TextBlockParam,
  ThinkingConfigParam,
  Tool,
  ToolChoiceNone,
} from "@anthropic-ai/sdk/resources/messages";
import { isClaude, modelInfo } from "../model-info.ts";
import { type BlockMessage, isThinking, lowerMessages, lowerSystem } from "./anthropic-messages-history.ts";
import type { ModelRequest, Sampling } from "./wire.ts";

/** Options before version 2026-10-21, which compatible endpoints still accept. */
type OlderSampling = { readonly temperature?: number; readonly top_p?: number };

export type AnthropicMessagesBody = Omit<MessageCreateParamsStreaming, "messages"> &
  OlderSampling & { readonly messages: readonly BlockMessage[] };

export function anthropicMessagesBody(request: ModelRequest): AnthropicMessagesBody {
  const { model, sampling } = request;
  const mark = cacheMark(request);
  const system = lowerSystem(request.messages);
  const messages = lowerMessages(request.messages);
  // The API requires a limit. Default: the model's own.
  const maxTokens = sampling.maxTokens ?? modelInfo(model).maxOutputTokens;
  const mayBudget = !isClaude(model) || !isAmongUnsignedCalls(messages);
  const thinking = thinkingFields(model, sampling.reasoningEffort, { maxTokens, mayBudget });
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    ...lowerTools(request, messages),
    ...(system.length > 0 && { system: mark ? markSystem(system, mark) : [...system] }),
    messages: mark ? markMessages(messages, mark) : [...messages],
    ...thinking,
    ...lowerSampling(sampling, { isSampled: !isClaude(model) && thinking.thinking === undefined }),
  };
}

/** Undefined for an endpoint that refuses cache marks. */
function cacheMark({ cacheTtl, omittedParameters = [] }: ModelRequest): CacheControlEphemeral | undefined {
  if (omittedParameters.includes(CACHE_PARAMETER)) return undefined;
  return { type: "ephemeral", ...(cacheTtl !== undefined && { ttl: cacheTtl }) };
}

/** Anthropic refuses temperatures; other models refuse them while they think. */
function lowerSampling(
  { temperature, topP, stop = [] }: Sampling,
  { isSampled }: { readonly isSampled: boolean },
): OlderSampling & Pick<MessageCreateParamsStreaming, "stop_sequences"> {
  const sequences = stop.filter((sequence) => sequence.trim() !== "");
  return {
    ...(isSampled && temperature !== undefined && { temperature }),
    ...(isSampled && topP !== undefined && { top_p: topP }),
    ...(sequences.length > 0 && { stop_sequences: sequences }),
  };
}

/** A history with calls needs the tools' definitions, even when no call is allowed. */
function lowerTools(
  { tools }: ModelRequest,
  messages: readonly BlockMessage[],
): { readonly tools?: Tool[]; readonly tool_choice?: ToolChoiceNone } {
  if (tools.length > 0) {
    return {
      tools: tools.map(({ name, description, parameters }) => ({
        name,
        description,
        input_schema: { ...parameters, type: "object" },
      })),
    };
  }
  const blocks = messages.flatMap(({ content }) => content);
  const used = new Set(blocks.flatMap((block) => (block.type === "tool_use" ? [block.name] : [])));
  if (used.size === 0) return {};
  return {
    tools: [...used].map((name) => ({ name, input_schema: { type: "object" } })),
    tool_choice: { type: "none" },
  };
}

/** True when the final results answer calls without signed thinking before them. */
function isAmongUnsignedCalls(messages: readonly BlockMessage[]): boolean {
  const [caller, results] = messages.slice(-2);
  if (caller?.role !== "assistant" || results?.content[0]?.type !== "tool_result") return false;
  const first = caller.content[0];
  return first !== undefined && !isThinking(first.type);
}

const CACHE_PARAMETER = "cache_control" satisfies keyof TextBlockParam;

/** The API allows four cache marks. One marks the system prompt, which covers the tools. */
const MARKED_MESSAGES = 3;

export function markSystem(system: readonly TextBlockParam[], mark: CacheControlEphemeral): TextBlockParam[] {
  return system.map((block, index) => (index === system.length - 1 ? { ...block, cache_control: mark } : block));
}

/** Marks the ends of the last messages. A mark changes no other byte. */
export function markMessages(messages: readonly BlockMessage[], mark: CacheControlEphemeral): BlockMessage[] {
  const first = messages.length - MARKED_MESSAGES;
  return messages.map((message, index) => (index < first ? message : markEnd(message, mark)));
}

function markEnd(message: BlockMessage, mark: CacheControlEphemeral): BlockMessage {
  const last = message.content.findLastIndex(({ type }) => !isThinking(type));
  const content = message.content.map((block, index): ContentBlockParam => {
    if (index !== last || block.type === "thinking" || block.type === "redacted_thinking") return block;
    return { ...block, cache_control: mark };
  });
  return { ...message, content };
}

/**
 * Thinking options of a Claude model, from the API's documentation: 4.6 and later take an effort, 3.7 to 4.5 take a
 * token budget, older ones do not think.
 */

export type ThinkingFields = { readonly thinking?: ThinkingConfigParam; readonly output_config?: OutputConfig };

type Effort = NonNullable<Sampling["reasoningEffort"]>;

/** Version times 100: 4.6 is 406. */
const FIRST_ADAPTIVE = 406;
const FIRST_WITH_BUDGET = 307;

/** Tokens. The API's minimum is 1,024. */
const budgets: Readonly<Record<Effort, number>> = { minimal: 1_024, low: 4_096, medium: 10_240, high: 24_576 };
const SMALLEST_BUDGET = budgets.minimal;
/** Largest share of `max_tokens` for the budget; the rest is for the answer. */
const BUDGET_SHARE = 0.5;

const efforts = { minimal: "low", low: "low", medium: "medium", high: "high" } as const satisfies Record<
  Effort,
  string
>;

/** `mayBudget` is false within tool calls that were made without thinking: models with a budget refuse to begin there. */
export function thinkingFields(
  model: string,
  effort: Effort | undefined,
  { maxTokens, mayBudget }: { readonly maxTokens: number; readonly mayBudget: boolean },
): ThinkingFields {
  const version = versionOf(model);
  if (version >= FIRST_ADAPTIVE) {
    return {
      // Without `display` newer models do not show their thinking.
      thinking: { type: "adaptive", display: "summarized" },
      ...(effort !== undefined && { output_config: { effort: efforts[effort] } }),
    };
  }
  if (effort === undefined || version < FIRST_WITH_BUDGET || !mayBudget) return {};
  const budget = Math.min(budgets[effort], Math.floor(maxTokens * BUDGET_SHARE));
  return budget < SMALLEST_BUDGET ? {} : { thinking: { type: "enabled", budget_tokens: budget } };
}

/** Compatible endpoints use the budget form. A Claude model without a number is the newest. */
function versionOf(model: string): number {
  if (!isClaude(model)) return FIRST_WITH_BUDGET;
  // A date may follow the version or replace the minor version.
  const found = /claude-(?:[a-z]+-)?(\d)(?:[.-](\d{1,2}))?(?!\d)/i.exec(model);
  return found === null ? Number.POSITIVE_INFINITY : Number(found[1]) * 100 + Number(found[2] ?? 0);
}
