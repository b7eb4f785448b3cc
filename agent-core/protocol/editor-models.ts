/** Language models of the editor, which the agent reaches through its client. Only where `languageModels` is declared. */
import * as z from "zod";
import { nothing } from "./method.ts";
import { HermesToolSchema } from "./trajectory.ts";

export const HermesModelList = z.object({
  models: z
    .array(
      z.object({
        /** Id of the model in the editor, unique there. */
        id: z.string().min(1),
        /** Name for people. */
        name: z.string(),
        /** Provider of the model: `copilot`, or the name of an extension. */
        vendor: z.string(),
        /** Limit of its input. Tokens. */
        maxInputTokens: z.number().nonnegative(),
      }),
    )
    .readonly(),
});
export type HermesModelList = z.infer<typeof HermesModelList>;

const textPart = z.object({ type: z.literal("text"), text: z.string() });
const imagePart = z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) });
/** Tool call of a model; `arguments` is JSON text. */
export const modelToolCall = z.object({
  id: z.string(),
  type: z.literal("function"),
  function: z.object({ name: z.string(), arguments: z.string() }),
});
const userContent = z.union([z.string(), z.array(z.union([textPart, imagePart])).readonly()]);

export const HermesChat = z.object({
  /** Id of the answer in its deltas. */
  chatId: z.string(),
  model: z.string(),
  /** System message first. */
  messages: z
    .array(
      z.discriminatedUnion("role", [
        z.object({ role: z.literal("system"), content: z.string() }),
        z.object({ role: z.literal("user"), content: userContent }),
        z.object({
          role: z.literal("assistant"),
          content: z.string().nullable(),
          tool_calls: z.array(modelToolCall).readonly().exactOptional(),
        }),
        z.object({ role: z.literal("tool"), tool_call_id: z.string(), content: z.string() }),
      ]),
    )
    .readonly(),
  tools: z.array(HermesToolSchema).readonly(),
});
export type HermesChat = z.infer<typeof HermesChat>;

export const HermesChatOutcome = z.discriminatedUnion("outcome", [
  /** `parts` is the number of parts in all deltas: a response can overtake notifications that were sent before it. */
  z.object({ outcome: z.literal("finished"), parts: z.number().int().nonnegative() }),
  /** `message` is the text of the editor or the model. */
  z.object({
    outcome: z.literal("failed"),
    kind: z.enum(["model-not-found", "not-allowed", "blocked", "failed"]),
    message: z.string(),
  }),
]);
export type HermesChatOutcome = z.infer<typeof HermesChatOutcome>;

export const HermesChatDelta = z.object({
  chatId: z.string(),
  parts: z
    .array(
      z.discriminatedUnion("type", [
        z.object({ type: z.enum(["text", "reasoning"]), text: z.string() }),
        z.object({ type: z.literal("call"), callId: z.string(), name: z.string(), input: z.unknown() }),
      ]),
    )
    .readonly(),
});
export type HermesChatDelta = z.infer<typeof HermesChatDelta>;

export const editorModelMethods = {
  /** Agent → client: the models that the editor offers. */
  list: { name: "_hermes/lm/list", params: nothing, result: HermesModelList },
  /** Agent → client: one answer. Its parts arrive in `delta` notifications; `$/cancel_request` ends it at any time. */
  chat: { name: "_hermes/lm/chat", params: HermesChat, result: HermesChatOutcome },
  /** Client → agent: the next parts of an answer, in order. */
  delta: { name: "_hermes/lm/delta", params: HermesChatDelta },
  /** Client → agent: the list of models has changed. */
  changed: { name: "_hermes/lm/changed", params: nothing },
};
