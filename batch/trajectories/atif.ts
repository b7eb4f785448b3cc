/** A conversation as an ATIF trajectory: Harbor's format, version 1.4. */
import { VERSION } from "../../agent-core/entry/version.ts";
import { parseJson } from "../../agent-core/platform/json.ts";
import type {
  HermesModelStep,
  HermesTrajectory,
  HermesTrajectoryMessage,
} from "../../agent-core/protocol/trajectory.ts";

const SCHEMA = "ATIF-v1.4";

/** `sessionId`: identifies the trajectory. */
export function atif(trajectory: HermesTrajectory, sessionId: string, beganAt: number): object {
  const { model, tools, systemPrompt, messages, steps, costUsd } = trajectory;
  const stepOf = new Map(steps.map((step) => [step.position, step]));
  let at = beganAt;
  const parts: object[] = [{ source: "system", timestamp: time(at), message: systemPrompt }];
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") continue; // in the step of its call
    const step = stepOf.get(message.position);
    at = step?.at ?? at;
    const results = resultsAfter(messages, index);
    parts.push(message.role === "user" ? userStep(message, at) : agentStep({ message, step, results, at, model }));
  }
  const sum = (read: (usage: NonNullable<HermesModelStep["usage"]>) => number): number =>
    steps.reduce((total, { usage }) => total + (usage === undefined ? 0 : read(usage)), 0);
  return {
    schema_version: SCHEMA,
    session_id: sessionId,
    agent: {
      name: "hermes",
      version: VERSION,
      model_name: model,
      tool_definitions: tools.map((tool) => ({ type: "function", function: tool })),
    },
    steps: parts.map((part, number) => ({ step_id: number + 1, ...part })),
    final_metrics: {
      total_prompt_tokens: sum(({ inputTokens }) => inputTokens),
      total_completion_tokens: sum(({ outputTokens }) => outputTokens),
      total_cached_tokens: sum(({ cachedInputTokens }) => cachedInputTokens),
      ...(costUsd !== undefined && { total_cost_usd: costUsd }),
      total_steps: parts.length,
    },
  };
}

function time(at: number): string {
  return new Date(at).toISOString();
}

function userStep({ text }: HermesTrajectoryMessage, at: number): object {
  return { source: "user", timestamp: time(at), message: text };
}

/** Results of the calls of the answer at `index`. */
function resultsAfter(messages: readonly HermesTrajectoryMessage[], index: number): readonly HermesTrajectoryMessage[] {
  const end = messages.findIndex(({ role }, at) => at > index && role !== "tool");
  return messages.slice(index + 1, end < 0 ? undefined : end);
}

type AgentStep = {
  readonly message: HermesTrajectoryMessage;
  readonly step: HermesModelStep | undefined;
  readonly results: readonly HermesTrajectoryMessage[];
  readonly at: number;
  readonly model: string;
};

function agentStep({ message: { text, reasoning, calls = [] }, step, results, at, model }: AgentStep): object {
  return {
    source: "agent",
    timestamp: time(at),
    model_name: step?.model ?? model,
    message: text,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: json }) => ({
        tool_call_id: id,
        function_name: name,
        arguments: parseJson(json) ?? {},
      })),
    }),
    ...(results.length > 0 && {
      observation: { results: results.map((result) => ({ source_call_id: result.callId, content: result.text })) },
    }),
    ...(step !== undefined && { metrics: metrics(step) }),
  };
}

/** Token ids and probabilities as the server sent them; without them the fields are missing. */
function metrics({ usage, costUsd, tokens }: HermesModelStep): object {
  return {
    ...(usage && {
      prompt_tokens: usage.inputTokens,
      completion_tokens: usage.outputTokens,
      cached_tokens: usage.cachedInputTokens,
    }),
    ...(costUsd !== undefined && { cost_usd: costUsd }),
    ...(tokens?.promptIds && { prompt_token_ids: tokens.promptIds }),
    ...(tokens?.completionIds && { completion_token_ids: tokens.completionIds }),
    ...(tokens?.logprobs && { logprobs: tokens.logprobs }),
  };
}
