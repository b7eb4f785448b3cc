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
};
