/**
 * Runs a planned job as a session of an agent of its own, in this process: it has the journal, hooks, tools and sandbox of
 * every session. No user can be asked, so a call that asks is denied and reported.
 */
import {
  type AgentApp,
  type ClientContext,
  client,
  methods,
  type SessionNotification,
} from "@zed-industries/agent-client-protocol";
import type { Job } from "../cron/job.ts";
import type { JobResult } from "../cron/scheduler.ts";
import { call } from "../protocol/method.ts";
import { sessionMethods } from "../protocol/sessions.ts";

const JOB_CLIENT = "hermes-job";

/** Length of the first line of an answer in a list. Characters. */
const SUMMARY_CHARS = 200;

export type JobSessionOptions = {
  readonly job: Job;
  /** Model for a job that names none. Undefined: the configured model. */
  readonly model: string | undefined;
  readonly version: string;
  readonly opened: (sessionId: string) => void;
};

/** Runs the job to its end. Rejects with an Error in one line. */
export async function runJobSession(
  app: AgentApp,
  options: JobSessionOptions,
  signal: AbortSignal,
): Promise<JobResult> {
  const denied: string[] = [];
  let text = "";
  const read = ({ update }: SessionNotification): void => {
    // The answer is the text after the last tool call.
    if (update.sessionUpdate === "tool_call") text = "";
    if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") text += update.content.text;
  };
  const stopReason = await client({ name: JOB_CLIENT })
    // The library checks nothing: the sender is our own agent.
    .onNotification(
      methods.client.session.update,
      (params) => params as SessionNotification,
      ({ params }) => read(params),
    )
    .onRequest(methods.client.session.requestPermission, ({ params: { toolCall } }) => {
      denied.push(toolCall.title ?? "a tool call");
      return { outcome: { outcome: "cancelled" } };
    })
    .connectWith(app, (agent) => converse(agent, options, signal));
  signal.throwIfAborted();
  const ok = stopReason === "end_turn";
  const [firstLine = ""] = text.trim().split("\n", 1);
  const summary = ok ? firstLine.slice(0, SUMMARY_CHARS) : `The turn ended early: ${stopReason}.`;
  return { ok, summary, text: text.trim(), denied };
}

async function converse(
  agent: ClientContext,
  { job, model, version, opened }: JobSessionOptions,
  signal: AbortSignal,
): Promise<string> {
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientInfo: { name: JOB_CLIENT, title: "a planned job", version },
    clientCapabilities: {},
  });
  const hermes = { trusted: true, ...(model !== undefined && { model }) };
  const { sessionId } = await agent.request(methods.agent.session.new, {
    cwd: job.workdir,
    mcpServers: [],
    _meta: { hermes },
  });
  await call(agent, sessionMethods.rename, { sessionId, title: job.name });
  opened(sessionId);
  const cancel = (): void => void agent.notify(methods.agent.session.cancel, { sessionId });
  signal.addEventListener("abort", cancel, { once: true });
  // Skills are named as a user names them: as slash commands before the task.
  const text = [...job.skills.map((skill) => `/${skill}`), job.prompt].join(" ");
  try {
    signal.throwIfAborted();
    const { stopReason } = await agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: "text", text }],
    });
    return stopReason;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
