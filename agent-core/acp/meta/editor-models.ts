/** Models that the editor offers. */
import type { Message } from "../../messages/message.ts";
import type { EditorModel, ToolSchema } from "../../providers/wire/wire.ts";

/** Agent → client: the models that the editor offers. Only where `languageModels` is declared. */
export const LM_LIST = "_hermes/lm/list";

export type HermesModelList = { readonly models: readonly EditorModel[] };

/**
 * Agent → client: asks one of those models. The answer comes in `LM_DELTA` notifications; the response says how it
 * ended. `$/cancel_request` ends it at any time.
 */
export const LM_CHAT = "_hermes/lm/chat";

export type HermesChat = {
  /** Names the answer in its deltas. */
  readonly chatId: string;
  readonly model: string;
  /** System message first. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
};

export type HermesChatOutcome =
  /** `parts` were sent in deltas: a response may overtake notifications that were sent before it. */
  | { readonly outcome: "finished"; readonly parts: number }
  /** `message` is the editor's own words, or the model's. */
  | {
      readonly outcome: "failed";
      readonly kind: "model-not-found" | "not-allowed" | "blocked" | "failed";
      readonly message: string;
    };

/** Client → agent: what the model has said since the last one, in order. */
export const LM_DELTA = "_hermes/lm/delta";

export type HermesChatDelta = {
  readonly chatId: string;
  readonly parts: readonly (
    | { readonly type: "text" | "reasoning"; readonly text: string }
    | { readonly type: "call"; readonly callId: string; readonly name: string; readonly input: unknown }
  )[];
};

/** Client → agent: the editor's models are others than before. */
export const LM_CHANGED = "_hermes/lm/changed";
