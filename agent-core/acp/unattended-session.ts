/**
 * Sessions that nobody attends, in an agent of this process: they have the journal, hooks, tools and sandbox of every
 * session. No user can be asked, so a call that asks is denied and reported.
 */
import {
  type AgentApp,
  type ClientContext,
  client,
  type Implementation,
  methods,
  type PromptRequest,
  type SessionNotification,
  type StopReason,
} from "@zed-industries/agent-client-protocol";
import type { Job } from "../cron/job.ts";
import type { JobResult } from "../cron/scheduler.ts";
import { call } from "../protocol/method.ts";
import { sessionMethods } from "../protocol/sessions.ts";

/** Runs a turn. */
type RunPrompt = (text: string) => Promise<StopReason>;

type Unattended<Result> = {
  /** The client as the agent gets to know it. */
  readonly info: Implementation;
  /** Folder of the session, absolute. */
  readonly cwd: string;
  /** Default: the configured model. */
  readonly model?: string | undefined;
  readonly update?: (notification: SessionNotification) => void;
  /** Runs while the session is open. */
  readonly work: (agent: ClientContext, sessionId: string, prompt: RunPrompt) => Promise<Result>;
};

/** Opens a session for some work. Its result has the titles of the denied calls. The signal cancels the turns. */
export async function inUnattendedSession<Result extends object>(
  app: AgentApp,
  { info, cwd, model, update = () => undefined, work }: Unattended<Result>,
  signal: AbortSignal,
): Promise<Result & { readonly denied: readonly string[] }> {
  const denied: string[] = [];
  // The library checks nothing: the sender is our own agent.
  const asSent = (params: unknown): SessionNotification => params as SessionNotification;
  const result = await client({ name: info.name })
    .onNotification(methods.client.session.update, asSent, ({ params }) => update(params))
    .onRequest(methods.client.session.requestPermission, ({ params: { toolCall } }) => {
      denied.push(toolCall.title ?? "a tool call");
      return { outcome: { outcome: "cancelled" } };
    })
    .connectWith(app, async (agent) => {
      const identity = { protocolVersion: 1, clientInfo: info, clientCapabilities: {} };
      await agent.request(methods.agent.initialize, identity);
      const _meta = { hermes: { trusted: true, ...(model !== undefined && { model }) } };
      const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [], _meta });
      const cancel = (): void => void agent.notify(methods.agent.session.cancel, { sessionId });
      signal.addEventListener("abort", cancel, { once: true });
      try {
        return await work(agent, sessionId, async (text) => {
          const params: PromptRequest = { sessionId, prompt: [{ type: "text", text }] };
          return (await agent.request(methods.agent.session.prompt, params)).stopReason;
        });
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    });
  return { ...result, denied };
}

/** Length of the first line of an answer in a list. Characters. */
const SUMMARY_CHARS = 200;

type JobSessionOptions = {
  readonly job: Job;
  /** Model for a job that names none. Undefined: the configured model. */
  readonly model: string | undefined;
  readonly version: string;
  readonly opened: (sessionId: string) => void;
};

/** Runs a planned job to its end. Rejects with an Error in one line. */
export async function runJobSession(
  app: AgentApp,
  { job, model, version, opened }: JobSessionOptions,
  signal: AbortSignal,
): Promise<JobResult> {
  let text = "";
  const session: Unattended<{ readonly stopReason: StopReason }> = {
    info: { name: "hermes-job", title: "a planned job", version },
    cwd: job.workdir,
    model,
    update({ update }) {
      // The answer is the text after the last tool call.
      if (update.sessionUpdate === "tool_call") text = "";
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") text += update.content.text;
    },
    async work(agent, sessionId, prompt) {
      await call(agent, sessionMethods.rename, { sessionId, title: job.name });
      opened(sessionId);
      signal.throwIfAborted();
      // Skills are named as a user names them: as slash commands before the task.
      return { stopReason: await prompt([...job.skills.map((skill) => `/${skill}`), job.prompt].join(" ")) };
    },
  };
  const { stopReason, denied } = await inUnattendedSession(app, session, signal);
  signal.throwIfAborted();
  const ok = stopReason === "end_turn";
  const [firstLine = ""] = text.trim().split("\n", 1);
  const summary = ok ? firstLine.slice(0, SUMMARY_CHARS) : `The turn ended early: ${stopReason}.`;
  return { ok, summary, text: text.trim(), denied };
}
