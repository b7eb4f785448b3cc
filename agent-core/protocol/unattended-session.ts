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

/** Runs a turn. */
type RunPrompt = (text: string) => Promise<StopReason>;

export type Unattended<Result> = {
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
