/** What can go wrong between us and a model, as one value; whoever decides (retry, fail over, tell the user) reads it. */

export type FaultKind =
  | "authentication"
  | "billing"
  | "rate-limit"
  | "overloaded"
  | "server"
  | "network"
  | "timeout"
  | "cut-off"
  | "context-overflow"
  | "model-not-found"
  | "bad-request"
  /** A parameter that this model does not take; `parameter` names it. */
  | "unsupported-parameter"
  /** Earlier reasoning that was sent back, and is not accepted (any more). */
  | "reasoning-rejected"
  /** An image that this model does not take. */
  | "image-rejected"
  /** An answer with nothing in it. */
  | "empty"
  | "malformed"
  | "unknown";

export type Fault = {
  readonly kind: FaultKind;
  /** One line for people: what happened, to what, what to do. Never holds a key. */
  readonly message: string;
  /** HTTP status, when there was one. */
  readonly status?: number;
  /** The provider's own floor for the next try, in milliseconds. */
  readonly retryAfterMs?: number;
  /** As the provider's API names it. */
  readonly parameter?: string;
};
