/** Records about a running conversation, and the method that steers it. */
import * as z from "zod";

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

const blockMeta = { _meta: z.record(z.string(), z.unknown()).nullable().exactOptional() };

/** Content block of ACP. Audio is left out, because no model gets it. */
export const promptBlock = z.discriminatedUnion("type", [
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

/** Notification of a client that keeps messages until the turn ends: the next turn of a goal comes after them. */
export const waitsMethod = {
  name: "_hermes/session/waits",
  params: z.object({ sessionId: z.string(), waits: z.boolean() }),
};
