/**
 * Outcomes: evidence from outside the model about what the agent did. They are journal entries, so that a later reader
 * (the feedback score, memory, skills) needs nothing but the journal. `at` is milliseconds since 1970.
 */
import * as z from "zod";
import { HermesHookRun } from "../protocol/conversation.ts";
import { HermesSettled } from "../protocol/files.ts";

const at = z.number();
/** Id of the tool call that the outcome is about. */
const callId = z.string();

/** The user's decision on lines that a tool call changed. */
const verdict = z.object({
  type: z.literal("verdict"),
  callId: callId.exactOptional(),
  /** Absolute. */ path: z.string(),
  /** `retyped`: the user wrote other text in place of the agent's. */
  outcome: z.enum(["kept", "undone", "retyped"]),
  /** Lines that the hunks added and removed. */ lines: z.number(),
  at,
});

/** The user's decision about all edits of a file so far; `redone` ends an undo. */
const review = HermesSettled.extend({ type: z.literal("review"), at });

/** The user undid what a call changed in the memory or in skills. */
const memoryUndo = z.object({ type: z.literal("memory-undo"), callId, at });

/** Answer to a permission request or to a question of the agent. */
const answer = z.object({
  type: z.literal("answer"),
  callId,
  tool: z.string(),
  request: z.enum(["permission", "question"]),
  /**
   * `allowed`: a grant, a model or a hook answered for the user; `cancelled`: the user dismissed a question; `unavailable`: no
   * client could show the request.
   */
  outcome: z.enum(["once", "session", "always", "allowed", "rejected", "answered", "cancelled", "unavailable"]),
  /** `grant`: an earlier answer that lasts; `model`: the approval mode `smart`; `hook`: a hook of the home. */
  by: z.enum(["user", "grant", "model", "hook", "nobody"]),
  /** Text that came with a rejection. */ reason: z.string().exactOptional(),
  at,
});

/** A skill reached the model. */
const skillUse = z.object({
  type: z.literal("skill-use"),
  name: z.string(),
  version: z.string(),
  /** `offered`: listed in the prompt; `loaded`: read by the model; `injected`: added by the host. */
  how: z.enum(["offered", "loaded", "injected"]),
  at,
});

/** Judgement of a sub-task's result. The scores are between 0 and 1; absent when the judge gave none. */
const evaluation = z.object({
  type: z.literal("evaluation"),
  callId,
  taskId: z.string().exactOptional(),
  taskType: z.string().exactOptional(),
  /** Session of the sub-task. */ child: z.string().exactOptional(),
  /** Runs of the task before this one. */ retries: z.number().exactOptional(),
  /** `none`: the result was accepted because the judge failed. */ by: z
    .enum(["facts", "judge", "none"])
    .exactOptional(),
  correctness: z.number().exactOptional(),
  completeness: z.number().exactOptional(),
  confidence: z.number().exactOptional(),
  missingAspects: z.array(z.string()).readonly().exactOptional(),
  decision: z.enum(["accept", "retry", "amend", "escalate"]),
  reason: z.string(),
  at,
});

const hook = HermesHookRun.extend({ type: z.literal("hook"), callId: callId.exactOptional(), at });

/** A run of a hook, as the session reports it. */
export type RecordedHook = Omit<z.infer<typeof hook>, "type" | "at">;

export const outcomeEntries = [verdict, review, memoryUndo, answer, skillUse, evaluation, hook] as const;

/** Answer to one request, as the run of a tool call reports it. */
export type RecordedAnswer = Omit<z.infer<typeof answer>, "type" | "at">;
/** The user's decision on one file's lines, as a client reports it. */
export type ReviewOutcome = Pick<z.infer<typeof verdict>, "path" | "outcome" | "lines">;
