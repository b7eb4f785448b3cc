/** A session as training data: its messages, the calls of its model, and its tools. */
import * as z from "zod";
import { sessionMethods } from "./sessions.ts";

const tokenList = z.array(z.number()).readonly().exactOptional();

/** One call of the model. */
export const HermesModelStep = z.object({
  /** Position of its answer among the session's messages. */
  position: z.number(),
  /** End of the answer, in milliseconds since 1970. */
  at: z.number(),
  model: z.string(),
  /** Token counts: `inputTokens` includes cached ones, `outputTokens` includes reasoning. */
  usage: z
    .object({
      inputTokens: z.number(),
      outputTokens: z.number(),
      cachedInputTokens: z.number(),
      reasoningTokens: z.number(),
    })
    .exactOptional(),
  /** US dollars; missing when unknown. */
  costUsd: z.number().exactOptional(),
  /** As far as the server sent them: ids, and the log probability of each token of the answer. */
  tokens: z.object({ promptIds: tokenList, completionIds: tokenList, logprobs: tokenList }).exactOptional(),
});
export type HermesModelStep = z.infer<typeof HermesModelStep>;

/** Turn of a ShareGPT conversation. */
export const ShareGptTurn = z.object({ from: z.enum(["system", "human", "gpt", "tool"]), value: z.string() });
export type ShareGptTurn = z.infer<typeof ShareGptTurn>;

/** A tool's description for the model. `parameters` is a JSON schema. */
export const HermesToolSchema = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
});

/** A message of the session, with the text of its parts. */
export const HermesTrajectoryMessage = z.object({
  position: z.number(),
  role: z.enum(["user", "assistant", "tool"]),
  text: z.string(),
  reasoning: z.string().exactOptional(),
  calls: z
    .array(z.object({ id: z.string(), name: z.string(), arguments: z.string() }))
    .readonly()
    .exactOptional(),
  /** Of a tool's result: id of the call. */
  callId: z.string().exactOptional(),
});
export type HermesTrajectoryMessage = z.infer<typeof HermesTrajectoryMessage>;

export const HermesTrajectory = z.object({
  model: z.string(),
  systemPrompt: z.string(),
  /** The whole conversation, compressed or not. */
  messages: z.array(HermesTrajectoryMessage).readonly(),
  /** The same in ShareGPT's form, with a system turn that lists the tools. */
  conversations: z.array(ShareGptTurn).readonly(),
  tools: z.array(HermesToolSchema).readonly(),
  /** Names of all tools that sessions of this program can have. */
  knownTools: z.array(z.string()).readonly(),
  steps: z.array(HermesModelStep).readonly(),
  failedCalls: z.array(z.string()).readonly(),
  /** Cost of all model calls, those of sub-agents and auxiliary tasks too. US dollars; missing when unknown. */
  costUsd: z.number().exactOptional(),
});
export type HermesTrajectory = z.infer<typeof HermesTrajectory>;

/** An open session. Model calls of an earlier process have no steps. */
export const trajectoryMethod = { ...sessionMethods.trajectory, result: HermesTrajectory };

const commandEnd = z.object({
  /** Null when a signal ended it. */
  exitCode: z.number().nullable(),
  /** All of a short output, the first and last part of a long one. */
  output: z.string(),
});
export type HermesCommandEnd = z.infer<typeof commandEnd>;

export const commandMethod = { ...sessionMethods.command, result: commandEnd };
