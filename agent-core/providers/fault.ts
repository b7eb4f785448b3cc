/** Failures of a model call, as values. Retry, fallback and messages depend on them. */

export type FaultKind =
  | "authentication"
  | "billing"
  | "rate-limit"
  | "overloaded"
  | "server"
  /** The provider reports a failure without a status or a known code. */
  | "unexplained"
  | "network"
  | "timeout"
  | "cut-off"
  | "context-overflow"
  /** The limit of the answer is too high for the model. */
  | "output-limit"
  | "model-not-found"
  | "bad-request"
  /** `parameter` names the parameter that this model refuses. */
  | "unsupported-parameter"
  /** The model rejected reasoning of an earlier answer. */
  | "reasoning-rejected"
  /** The model requires the reasoning of earlier answers, which another server wrote. */
  | "reasoning-missing"
  | "image-rejected"
  /** The model takes no images at all. */
  | "no-vision"
  /** The server or the model has no tool calls. */
  | "no-tools"
  /** A filter of the provider refused the content of the request, or of the answer before its first word. */
  | "filtered"
  | "empty"
  /** The answer holds a call as text that could not be read. */
  | "unread-call"
  | "malformed"
  | "unknown";

export type Fault = {
  readonly kind: FaultKind;
  /** One line for people: what failed, on what, and what to do. Contains no key. */
  readonly message: string;
  readonly status?: number;
  /** Minimum delay before a retry, from the provider. Milliseconds. */
  readonly retryAfterMs?: number;
  /** The same request may succeed later, or never. Absent: the kind decides. */
  readonly shouldRetry?: boolean;
  /** Numbers of tokens that may be the limit, as the provider names them. The first one is the likeliest. */
  readonly limits?: readonly number[];
  /** Name in the provider's API. */
  readonly parameter?: string;
  /** Provider whose key is missing or refused, and what to do without a client that asks for it. */
  readonly keyFor?: string;
  readonly keyAdvice?: string;
};
