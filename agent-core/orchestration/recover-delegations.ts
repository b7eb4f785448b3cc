/** Delegations that ended with their process: the journals of their sub-agents say what they did. */
import { dirname } from "node:path";
import * as z from "zod";
import { parseJson } from "../platform/json.ts";
import type { HermesTask } from "../protocol/delegation.ts";
import type { EntryOf, JournalEntry } from "../sessions/entry.ts";
import { readEntries, type StoredSession } from "../sessions/read-journal.ts";
import { journalPath } from "../sessions/session-files.ts";
import { appendEntries, openCalls } from "../sessions/stored-session.ts";
import { taskId } from "./task-graph.ts";
import { resultText, TaskRecord, type TaskResult } from "./task-result.ts";

const CUT_OFF = "Hermes ended while it ran.";

type Begun = EntryOf<"delegation">;

/**
 * Stores the results of cut-off delegations in the session, for its card and for the model. Resolves to true when there were
 * any: the session must be read again. Rejects with an Error in one line.
 */
export async function recoverDelegations(stored: StoredSession): Promise<boolean> {
  const begun = stored.records.filter((entry) => entry.type === "delegation");
  if (begun.length === 0) return false;
  const open = openCalls(stored);
  const cutOff = [...new Set(begun.map(({ callId }) => callId))].filter((callId) => open.has(callId));
  let position = stored.conversation.next;
  for (const callId of cutOff) {
    const tasks = begun.filter((entry) => entry.callId === callId);
    const ended = [
      ...(await Promise.all(tasks.map((task) => recovered(task, stored)))),
      ...unbegun(open.get(callId), tasks),
    ];
    await appendEntries(stored, entriesOf(callId, ended, position));
    position += 1;
  }
  return cutOff.length > 0;
}

const graph = z.object({
  tasks: z.array(
    z.object({ id: z.string().optional(), goal: z.string(), depends_on: z.array(z.string()).default([]) }),
  ),
});

/** Tasks of the call that had not begun. */
function unbegun(json: string | undefined, begun: readonly Begun[]): readonly Recovered[] {
  const { tasks = [] } = graph.safeParse(parseJson(json ?? "")).data ?? {};
  const reason = "Hermes ended before it began.";
  return tasks
    .map((task, index) => ({ ...task, id: taskId(task.id, index) }))
    .filter(({ id }) => begun.every(({ task }) => task !== id))
    .map(({ id, goal, depends_on: dependsOn }) => ({
      task: {
        id,
        goal,
        dependsOn,
        status: "skipped",
        reason,
        attempt: 0,
        iterations: 0,
        tokens: 0,
        files: [],
        verdicts: [],
      },
      result: {
        id,
        status: "skipped",
        summary: "",
        reason,
        files: [],
        commands: [],
        iterations: 0,
        duration: 0,
        usage: { inputTokens: 0, outputTokens: 0 },
      },
    }));
}

type Recovered = { readonly task: HermesTask; readonly result: TaskResult };

async function recovered({ task: id, goal, dependsOn, child, at }: Begun, stored: StoredSession): Promise<Recovered> {
  const path = journalPath(dirname(stored.path), child);
  const entries = path === undefined ? [] : await readEntries(path).catch((): readonly JournalEntry[] => []);
  const record = new TaskRecord(stored.cwd);
  for (const entry of entries) record.add(entry);
  const { answer, ...facts } = record.facts;
  const isDone = entries.findLast(({ type }) => type === "turn-end" || type === "message")?.type === "turn-end";
  const status = isDone ? "completed" : "partial";
  const reason = isDone ? {} : { reason: CUT_OFF };
  const durationMs = (entries.at(-1)?.at ?? at) - at;
  const tokens = facts.usage.inputTokens + facts.usage.outputTokens;
  const { iterations, files } = facts;
  return {
    task: {
      id,
      goal,
      dependsOn,
      status,
      sessionId: child,
      attempt: 1,
      iterations,
      tokens,
      files,
      startedAt: at,
      durationMs,
      verdicts: [],
      ...reason,
    },
    result: { id, status, summary: answer, ...reason, ...facts, duration: durationMs / 1_000, session: child },
  };
}

function entriesOf(callId: string, ended: readonly Recovered[], position: number): Parameters<typeof appendEntries>[1] {
  const at = Date.now();
  const { text } = resultText(ended.map(({ result }) => result));
  const card = { title: "Delegate", kind: "other", locations: [], diffs: [], ok: true, durationMs: 0 };
  return [
    { type: "tool", callId, name: "delegate_task", ...card, tasks: ended.map(({ task }) => task), at },
    {
      type: "message",
      position,
      message: { role: "tool", tool_call_id: callId, content: `${text}\n\n[${CUT_OFF}]` },
      at,
    },
  ];
}
