/** A model call with recovery from outside: its models and their facts, its request, and its events. */
import type { Message } from "../../messages/message.ts";
import type { Clock } from "../../platform/clock.ts";
import type { HermesUpdateMeta } from "../../protocol/update-meta.ts";
import type { ModelFacts } from "../model-info.ts";
import type { ResolvedModel } from "../resolve-model.ts";
import type { EditorModels, ModelEvent, Sampling, ToolSchema } from "../wire/wire.ts";
import type { Adaptations, LeftOut } from "./adaptations.ts";
import type { ModelChain } from "./model-chain.ts";

export type ModelRoute = {
  readonly chain: ModelChain;
  readonly adaptations: Adaptations;
  readonly clock: Clock;
  readonly editorModels: EditorModels | undefined;
  /** Longest time without progress, in milliseconds. It includes waits and failed requests. */
  readonly retryMs: number;
  /** True for a model that gets the images of tool results. Default: by its name. */
  acceptsImages?(model: ResolvedModel): boolean;
  /** Highest limit of an answer in tokens; undefined: not known. */
  maxOutputTokens?(model: ResolvedModel): number | undefined;
  /** Keeps a limit that the provider named for later sessions. */
  onLimit?(model: ResolvedModel, limit: Pick<ModelFacts, "contextWindow" | "maxOutputTokens">): void;
  /** Further fields in the body of chat completions requests. */
  extraBody?(model: ResolvedModel): Readonly<Record<string, unknown>>;
  /** Silence that the model's server may keep. Milliseconds. */
  silence(model: ResolvedModel): number;
  /** The same model with a new key; undefined when there is none. */
  refreshKey(model: ResolvedModel): Promise<ResolvedModel | undefined>;
};

export type CallRequest = {
  /** The system message first. Each request sends them repaired. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly sampling: Sampling;
  /** Shortens a conversation that the provider refuses as too long. Undefined when that is impossible. Default: none. */
  readonly onOverflow?: (messages: readonly Message[], signal: AbortSignal) => Promise<readonly Message[] | undefined>;
  /** Keeps the contents out of later requests that were refused with them. Default: they are sent again. */
  readonly onLeftOut?: (left: LeftOut) => void;
};

export type RetryWait = NonNullable<HermesUpdateMeta["retry"]>;

/** Events of a call: those of the model, and the handling of faults. */
export type CallEvent =
  | ModelEvent
  /** The answer so far is void; another one begins. */
  | { readonly type: "restart" }
  /** A text for people. `wait`: the wait that follows. */
  | {
      readonly type: "notice";
      readonly severity: "info" | "warning";
      readonly message: string;
      readonly wait?: RetryWait;
    };
