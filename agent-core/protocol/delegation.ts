/** Sub-agents of a session: the tasks of a `delegate_task` call, and the user's control over them. */
import * as z from "zod";
import { inSession, nothing } from "./method.ts";
import { HermesEarlierPage } from "./sessions.ts";

/** The judge's scores are between 0 and 1. They are absent when the judge gave no usable answer. */
export const HermesVerdict = z.object({
  correctness: z.number().optional(),
  completeness: z.number().optional(),
  confidence: z.number().optional(),
  decision: z.enum(["accept", "retry", "amend", "escalate"]),
  reason: z.string(),
});
export type HermesVerdict = z.infer<typeof HermesVerdict>;

/** State of one task. An update of a tool call has all tasks of the call, in the order of the call. */
export const HermesTask = z.object({
  /** Unique in its call. */
  id: z.string(),
  /** One line. */
  goal: z.string(),
  dependsOn: z.array(z.string()).readonly(),
  status: z.enum([
    "waiting",
    "running",
    "checking",
    "completed",
    "partial",
    "failed",
    "timeout",
    "skipped",
    "cancelled",
  ]),
  /** Session of the sub-agent, once it has begun. */
  sessionId: z.string().exactOptional(),
  /** Title of its last tool call, or its state in a phrase. */
  step: z.string().exactOptional(),
  /** Reason of a state that is not `completed`, in a sentence. */
  reason: z.string().exactOptional(),
  /** Number of runs, from 1; 0 while it waits. */
  attempt: z.number(),
  iterations: z.number(),
  /** Input and output tokens of all its model calls. */
  tokens: z.number(),
  /** Milliseconds since 1970. */
  startedAt: z.number().exactOptional(),
  /** Milliseconds of work; only of a task that has ended. */
  durationMs: z.number().exactOptional(),
  /**
   * Changed files, relative to the working folder. `hunks`: 0 for a change by a command; `shared`: a command of another
   * task may have changed it instead.
   */
  files: z.array(z.object({ path: z.string(), hunks: z.number(), shared: z.literal(true).exactOptional() })).readonly(),
  verdicts: z.array(HermesVerdict).readonly(),
});
export type HermesTask = z.infer<typeof HermesTask>;

/** `callId`: the call of `delegate_task`. */
const taskParams = inSession.extend({ callId: z.string(), taskId: z.string() });

export const delegationMethods = {
  /** Ends one sub-agent. Its task becomes `cancelled`. Does nothing for a task that has ended. */
  stop: { name: "_hermes/delegation/stop", params: taskParams, result: nothing },
  /** Sends a message into a running sub-agent. Refused (-32600) when it does not run. */
  steer: { name: "_hermes/delegation/steer", params: taskParams.extend({ text: z.string().min(1) }), result: nothing },
  /**
   * Conversation of a sub-agent, running or ended, as a page of updates. `sessionId`: the parent; `child`: the sub-agent's.
   * `before`: as in `_hermes/session/earlier`; default: the end.
   */
  transcript: {
    name: "_hermes/delegation/transcript",
    params: inSession.extend({ child: z.string(), before: z.int().min(0).exactOptional() }),
    result: HermesEarlierPage,
  },
};
