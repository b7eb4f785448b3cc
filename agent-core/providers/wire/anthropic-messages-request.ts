/** From a request in the internal format to the body of Anthropic's Messages API. Pure: same request, same bytes. */
import type {
  CacheControlEphemeral,
  MessageCreateParamsStreaming,
  Tool,
  ToolChoiceNone,
} from "@anthropic-ai/sdk/resources/messages";
import { modelInfo } from "../model-info.ts";
import { markMessages, markSystem } from "./anthropic-messages-cache.ts";
import { type BlockMessage, isThinking, lowerMessages, lowerSystem } from "./anthropic-messages-history.ts";
import { isClaude, thinkingFields } from "./anthropic-thinking-config.ts";
import type { ModelRequest, Sampling } from "./wire.ts";

/** What the API knew before version 2026-10-21, and compatible endpoints with models of their own still do. */
type OlderSampling = { readonly temperature?: number; readonly top_p?: number };

/** The body as it is sent. */
export type AnthropicMessagesBody = Omit<MessageCreateParamsStreaming, "messages"> &
  OlderSampling & { readonly messages: readonly BlockMessage[] };

export function anthropicMessagesBody(request: ModelRequest): AnthropicMessagesBody {
  const { model, sampling, cacheTtl } = request;
  const mark: CacheControlEphemeral = { type: "ephemeral", ...(cacheTtl !== undefined && { ttl: cacheTtl }) };
  const system = lowerSystem(request.messages);
  const messages = lowerMessages(request.messages);
  // The API wants a ceiling; without one of the caller's it is the model's own.
  const maxTokens = sampling.maxTokens ?? modelInfo(model).maxOutputTokens;
  const mayBudget = !isClaude(model) || !isAmongUnsignedCalls(messages);
  const thinking = thinkingFields(model, sampling.reasoningEffort, { maxTokens, mayBudget });
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    ...lowerTools(request, messages),
    ...(system.length > 0 && { system: markSystem(system, mark) }),
    messages: markMessages(messages, mark),
    ...thinking,
    ...lowerSampling(sampling, { isSampled: !isClaude(model) && thinking.thinking === undefined }),
  };
}

/** Anthropic itself refuses temperatures; other models do while they think. */
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

/** A history with calls needs its tools defined, also when none may be called any more. */
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

/** True when the results at the end answer calls that no signed thinking precedes. */
function isAmongUnsignedCalls(messages: readonly BlockMessage[]): boolean {
  const [caller, results] = messages.slice(-2);
  if (caller?.role !== "assistant" || results?.content[0]?.type !== "tool_result") return false;
  const first = caller.content[0];
  return first !== undefined && !isThinking(first.type);
}
