/** Records about a running conversation, and the method that steers it. */
import * as z from "zod";
import type { HermesTask } from "./delegation.ts";

/** `_meta.hermes` of `session/request_permission`. */
export const HermesPermissionMeta = z.object({
  /** Reasons why the call needs approval, one sentence each. */
  reasons: z.array(z.string()).readonly(),
  /** Full text of the command, for commands. */
  command: z.string().exactOptional(),
  /** Scope of a lasting answer, in plain words. */
  grant: z.string().exactOptional(),
  /** Goal of the task whose sub-agent asks, in one line. */
  task: z.string().exactOptional(),
});
export type HermesPermissionMeta = z.infer<typeof HermesPermissionMeta>;

/** `data` of the error of a prompt whose model failed. */
export const HermesFaultData = z.object({
  /** Kind of the fault, such as `authentication` or `rate-limit`. */
  kind: z.string(),
  /** HTTP status. */
  status: z.number().exactOptional(),
  /** Minimum delay before the next try. Milliseconds. */
  retryAfterMs: z.number().exactOptional(),
  /** Provider whose key is missing or refused. */
  keyFor: z.string().exactOptional(),
});
export type HermesFaultData = z.infer<typeof HermesFaultData>;

/** `_meta.hermes` of the outcome of `session/request_permission`. */
export const HermesPermissionOutcome = z.object({
  /** Reason of the user for a rejection. */
  reason: z.string().optional(),
});

/**
 * `_meta.hermes` of a `user_message_chunk` and of the `session_info_update` at the start of a turn: index of the user's
 * message among all messages of the session, from 0.
 */
export const HermesMessageMeta = z.object({ position: z.number() });
export type HermesMessageMeta = z.infer<typeof HermesMessageMeta>;

/**
 * `_meta.hermes` of a `session_info_update` during a turn. `thinking`: the agent waits for the model, or reads its answer.
 * `tools`: tool calls run. `waiting`: the user is asked. `idle`: the turn has ended.
 */
export type HermesActivityMeta = { readonly activity: "thinking" | "tools" | "waiting" | "idle" };

/** One run of a hook for a tool call. */
export const HermesHookRun = z.object({
  /** The command, or the plugin's name. */
  name: z.string(),
  event: z.string(),
  outcome: z.enum(["passed", "changed", "blocked", "failed"]),
  durationMs: z.number(),
  /** Reason of a block, a question or a failure. */
  message: z.string().exactOptional(),
});
export type HermesHookRun = z.infer<typeof HermesHookRun>;

/**
 * `_meta.hermes` of a `tool_call` or `tool_call_update`. `durationMs`: of a call that has ended. `hooks`: all runs for the
 * call so far. `rejected`: the user said no, so the call is `failed` without a failure. `parentToolCallId`: call that this
 * one is a part of, such as a script or a delegation. `taskId`: task of that delegation. `tasks`: state of a delegation.
 */
export type HermesToolMeta = {
  readonly durationMs?: number;
  readonly hooks?: readonly HermesHookRun[];
  readonly rejected?: boolean;
  readonly parentToolCallId?: string;
  readonly taskId?: string;
  readonly tasks?: readonly HermesTask[];
};

/** `_meta.hermes` of content that names the hooks in words, for clients that do not show `hooks`. */
export type HermesHookTextMeta = { readonly hookText: true };

/**
 * `_meta.hermes` of `usage_update`. `high`: the agent will soon summarise older messages. `full`: it cannot summarise
 * more, and withholds tools with long results.
 */
export type HermesUsageMeta = { readonly contextPressure: "low" | "high" | "full" };

/**
 * `_meta.hermes` of a `notice` about a wait before a retry, in milliseconds. A later notice with the same id replaces it.
 * `waitedMs`: time since the last progress.
 */
export const HermesRetryMeta = z.object({
  retry: z.object({ id: z.string(), reason: z.string(), delayMs: z.number(), waitedMs: z.number() }).readonly(),
});
export type HermesRetryMeta = z.infer<typeof HermesRetryMeta>;

/** `_meta.hermes` of the `notice` of a replay whose last turn failed. The fields are as in `HermesFaultData`. */
export const HermesFailedTurnMeta = z.object({
  failedTurn: z.object({ fault: z.string().exactOptional(), keyFor: z.string().exactOptional() }),
});
export type HermesFailedTurnMeta = z.infer<typeof HermesFailedTurnMeta>;

/** A user message by its position, or a tool call by its id. */
export type HermesAnchor = { readonly position: number } | { readonly toolCallId: string };

/**
 * `_meta.hermes` of the `session_info_update` after a compression, also in a replay. The model gets a summary instead of
 * the messages from `first` to before `firstKept` (null: the beginning, the end).
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

const blockMeta = { _meta: z.record(z.string(), z.unknown()).nullable().exactOptional() };

/** Content block of ACP. Audio is left out, because no model gets it. */
const promptBlock = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string(), ...blockMeta }),
  z.object({ type: z.literal("image"), mimeType: z.string(), data: z.string(), ...blockMeta }),
  z.object({ type: z.literal("resource_link"), uri: z.string(), name: z.string(), ...blockMeta }),
  z.object({
    type: z.literal("resource"),
    resource: z.union([
      z.object({ uri: z.string(), text: z.string(), mimeType: z.string().nullable().exactOptional() }),
      z.object({ uri: z.string(), blob: z.string(), mimeType: z.string().nullable().exactOptional() }),
    ]),
    ...blockMeta,
  }),
]);

export type PromptBlock = z.infer<typeof promptBlock>;

/** `_meta.hermes` of a `session_info_update`: the agent removed the messages from this position on. */
export const HermesRewoundMeta = z.object({
  rewound: z.object({
    position: z.number(),
    prompt: z.string().nullable(),
    /** Attachments of that message. */
    attachments: z.array(promptBlock).exactOptional(),
  }),
});
export type HermesRewoundMeta = z.infer<typeof HermesRewoundMeta>;

/** Input methods of East Asia write other signs for the slash. */
const COMMAND_LINE = /^[/／、]([a-z][a-z0-9_:.-]*)(?:\s+([\s\S]*))?$/;

/** The command's name in a message, and the text after it. `name` is undefined for an ordinary message. */
export function commandIn(text: string): { readonly name: string | undefined; readonly argument: string } {
  const [, name, argument = ""] = COMMAND_LINE.exec(text.trim()) ?? [];
  return { name, argument: argument.trim() };
}

/** True for a command that changes a setting or the title. The agent runs it beside a turn, so a client need not queue it. */
export function changesSetting(prompt: string): boolean {
  return /^\s*\/(?:(?:mode|model|title)\s+\S|goal\s+(?:pause|clear|budget|status)\b)/.test(prompt);
}

const steerParams = z.object({ sessionId: z.string(), prompt: z.array(promptBlock).min(1) });

const steerResult = z.object({ queued: z.literal(true) });

/**
 * Sends a user message into the running turn. The model gets it after the current tool calls; the agent then sends it back
 * as `user_message_chunk`. Refused (-32600) while no turn runs.
 */
export const steerMethod = { name: "_hermes/session/steer", params: steerParams, result: steerResult };
