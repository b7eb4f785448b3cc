/** `_meta.hermes` of the records of a conversation: of updates, of tool calls, and of parts of their content. */
import * as z from "zod";
import { HermesHookRun, promptBlock } from "./conversation.ts";
import { HermesTask } from "./delegation.ts";
import { HermesNewProblem } from "./editor.ts";
import { readMeta } from "./method.ts";
import { HermesEarlier } from "./sessions.ts";

/** A user message by its position, or a tool call by its id. */
const anchor = z.union([z.object({ position: z.number() }), z.object({ toolCallId: z.string() })]);
export type HermesAnchor = Readonly<z.infer<typeof anchor>>;

const fields = {
  /**
   * Of a `user_message_chunk`, and of the `session_info_update` at the start of a turn: index of the user's message among all
   * messages of the session, from 0.
   */
  position: z.number(),
  /**
   * Of a `session_info_update` during a turn. `thinking`: the agent waits for the model, or reads its answer. `tools`: tool
   * calls run. `waiting`: the user is asked. `idle`: the turn has ended.
   */
  activity: z.enum(["thinking", "tools", "waiting", "idle"]),
  /** Of a tool call that has ended. Milliseconds. */
  durationMs: z.number().min(0),
  /** All runs of hooks for the tool call so far. */
  hooks: z.array(HermesHookRun).readonly(),
  /** The user said no, so the tool call is `failed` without a failure. */
  rejected: z.boolean(),
  /** Of a replay: the user's decisions on the call's edits, by path. An undo that no redo can end is discarded. */
  decisions: z.record(z.string(), z.enum(["kept", "undone", "discarded"])),
  /** Call that this one is a part of, such as a script or a delegation. */
  parentToolCallId: z.string(),
  /** Task of that delegation. */
  taskId: z.string(),
  /** State of a delegation. */
  tasks: z.array(HermesTask).readonly(),
  /** Of content that names the hooks in words, for clients that do not show `hooks`. */
  hookText: z.literal(true),
  /** Of the text in a tool call that names the new problems of its edit. */
  problems: z.array(HermesNewProblem).readonly(),
  /**
   * Of `usage_update`. `high`: the agent will soon summarise older messages. `full`: it cannot summarise more, and withholds
   * tools with long results.
   */
  contextPressure: z.enum(["low", "high", "full"]),
  /**
   * Of a `notice` about a wait before a retry, in milliseconds. A later notice with the same id replaces it. `waitedMs`: time
   * since the last progress.
   */
  retry: z.object({ id: z.string(), reason: z.string(), delayMs: z.number(), waitedMs: z.number() }).readonly(),
  /** Of a `notice` about changes of the memory: id of their call, for `undo`. */
  memoryCall: z.string(),
  /** Of the `notice` of a replay whose last turn failed. The fields are as in `HermesFaultData`. */
  failedTurn: z.object({ fault: z.string().exactOptional(), keyFor: z.string().exactOptional() }).readonly(),
  /**
   * Of the `session_info_update` after a compression, also in a replay. The model gets a summary instead of the messages from
   * `first` to before `firstKept` (null: the beginning, the end).
   */
  compression: z
    .object({
      messages: z.number(),
      tokensBefore: z.number(),
      tokensAfter: z.number(),
      summary: z.string().nullable(),
      first: anchor.nullable(),
      firstKept: anchor.nullable(),
    })
    .readonly(),
  /** Of a `session_info_update`: the agent removed the messages from this position on. `attachments`: of that message. */
  rewound: z
    .object({
      position: z.number(),
      prompt: z.string().nullable(),
      attachments: z.array(promptBlock).exactOptional(),
    })
    .readonly(),
  /** Of a `session_info_update`: state of the session's goal. */
  goal: z.enum(["active", "paused", "met", "cleared"]),
  /** Of a `session_info_update`: calls whose changes of the memory or of skills the user undid. */
  undoneCalls: z.array(z.string()).readonly(),
  /** Of the first `session_info_update` of a partial replay. */
  earlier: HermesEarlier,
};

/** Each record has the fields of its kind. */
const HermesUpdateMeta = z.object(fields).partial();
export type HermesUpdateMeta = Readonly<z.infer<typeof HermesUpdateMeta>>;

/** Our fields of a record; none when one of them is invalid. */
export function updateMeta(meta: unknown): HermesUpdateMeta {
  return readMeta(HermesUpdateMeta, meta) ?? {};
}

type Checked = { readonly _meta?: unknown; readonly content?: unknown };

/** The record with those of our fields alone that are valid: another agent may put anything under our name. */
export function checkedRecord<Record extends Checked>(record: Record): Record {
  const { _meta: meta, content } = record;
  return {
    ...record,
    ...(meta != null && { _meta: checkedMeta(meta) }),
    ...(Array.isArray(content) && { content: content.map((part: Checked) => checkedRecord(part)) }),
  };
}

function checkedMeta(meta: object): object {
  const given = Object(Object(meta).hermes);
  const valid = Object.entries(fields).flatMap(([name, field]) => {
    const { success, data } = field.safeParse(given[name]);
    return success ? [[name, data]] : [];
  });
  return { ...meta, hermes: Object.fromEntries(valid) };
}
