/** Updates of a delegation, as the agent sends them. */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { HermesTask } from "../../../agent-core/protocol/delegation.ts";

export function task(id: string, facts: Partial<HermesTask> = {}): HermesTask {
  return {
    id,
    goal: `Do ${id}`,
    dependsOn: [],
    status: "waiting",
    attempt: 0,
    iterations: 0,
    tokens: 0,
    files: [],
    verdicts: [],
    ...facts,
  };
}

export function delegation(
  callId: string,
  tasks: readonly HermesTask[],
  status = "in_progress" as const,
): SessionUpdate {
  const title = `Delegate ${tasks.length} tasks`;
  const hermes = { tasks };
  return {
    sessionUpdate: "tool_call",
    toolCallId: callId,
    name: "delegate_task",
    title,
    kind: "other",
    status,
    _meta: { hermes },
  };
}

export function tasksUpdate(
  callId: string,
  tasks: readonly HermesTask[],
  status: "in_progress" | "completed" = "in_progress",
): SessionUpdate {
  return { sessionUpdate: "tool_call_update", toolCallId: callId, status, _meta: { hermes: { tasks } } };
}

type NestedFacts = Omit<
  Extract<SessionUpdate, { sessionUpdate: "tool_call" }>,
  "sessionUpdate" | "toolCallId" | "_meta"
>;

/** A call of a task's sub-agent. */
export function nestedCall(parent: string, taskId: string, number: number, facts: NestedFacts): SessionUpdate {
  const hermes = { parentToolCallId: parent, taskId };
  const toolCallId = `${parent}/${taskId}/${number}`;
  return { sessionUpdate: "tool_call", toolCallId, ...facts, _meta: { hermes } };
}
