/** What is told of a running conversation, and said into it. */
import type { ContextPressureEvent } from "../../agent/callbacks.ts";

/** `_meta.hermes` of `session/request_permission`. */
export type HermesPermissionMeta = {
  /** Why it asks, one sentence each. */
  readonly reasons: readonly string[];
  /** The command in full, when it is one. */
  readonly command?: string;
  /** What a lasting answer would cover, in plain words. */
  readonly grant?: string;
};

/**
 * `_meta.hermes` of a `user_message_chunk`, and of the `session_info_update` that a turn begins with: where the user's
 * message stands among all that were said in the session, from 0.
 */
export type HermesMessageMeta = { readonly position: number };

/** `_meta.hermes` of a `tool_call_update` that ends a call. */
export type HermesToolMeta = { readonly durationMs?: number };

/**
 * `_meta.hermes` of `usage_update`. `high`: older messages will soon give way to a summary; `full`: nothing more can, and
 * tools with long results are withheld.
 */
export type HermesUsageMeta = { readonly contextPressure: ContextPressureEvent["level"] };

/**
 * Says something in the middle of a running turn: `{sessionId, prompt}` as in `session/prompt`. It reaches the model after
 * the tool calls of the moment, and comes back as `user_message_chunk` when it does. Refused (-32600) when no turn runs.
 */
export const STEER_METHOD = "_hermes/session/steer";

export type HermesSteerResponse = { readonly queued: true };

/** A message of the user's by its position, or a tool call by its id. */
export type HermesAnchor = { readonly position: number } | { readonly toolCallId: string };

/**
 * `_meta.hermes` of the `session_info_update` after a compression, and where a replay has one: the model gets a summary
 * instead of the messages from `first` up to `firstKept` (null: the beginning, the end).
 */
export type HermesCompressionMeta = {
  readonly compression: {
    readonly messages: number;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
    readonly summary: string | null;
    readonly first: HermesAnchor | null;
    readonly firstKept: HermesAnchor | null;
  };
};

/** `_meta.hermes` of a `session_info_update`: what was said from this position on is taken back. */
export type HermesRewoundMeta = { readonly rewound: { readonly position: number; readonly prompt: string | null } };
