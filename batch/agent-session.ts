/** One conversation with an agent in this process, as a client of ACP in memory. */
import { type ClientContext, type ContentBlock, methods } from "@zed-industries/agent-client-protocol";
import type { Environment } from "../agent-core/config/home.ts";
import {
  connectLocally,
  localAgent,
  localClient,
  ownWords,
  type TaskOptions,
} from "../agent-core/entry/local-agent.ts";
import { VERSION } from "../agent-core/entry/version.ts";
import { call } from "../agent-core/protocol/method.ts";
import {
  commandMethod,
  type HermesCommandEnd,
  type HermesTrajectory,
  trajectoryMethod,
} from "../agent-core/protocol/trajectory.ts";

const CLIENT = "hermes-batch";

export type SessionRun = {
  /** Folder of the session, absolute. */
  readonly cwd: string;
  readonly environment: Environment;
  readonly prompt: string;
  readonly task: TaskOptions;
  readonly log: (line: string) => void;
  /** Called after the answer, while the session is open. */
  readonly inspect?: ((end: Omit<SessionEnd, "denied">, run: RunCommand) => Promise<void>) | undefined;
};

/** Runs a command where the agent's commands run. */
export type RunCommand = (command: string, signal?: AbortSignal) => Promise<HermesCommandEnd>;

export type SessionEnd = {
  readonly trajectory: HermesTrajectory;
  readonly stopReason: string;
  /** Reason of a failure, in one line. */
  readonly error: string | undefined;
  readonly denied: readonly string[];
};

/** Runs a prompt to its end. Rejects with an Error in one line when no session can be opened, and with the signal's reason. */
export async function runSession(options: SessionRun, signal: AbortSignal): Promise<SessionEnd> {
  const { environment, task, log } = options;
  const denied: string[] = [];
  const us = localClient(CLIENT, () => undefined).onRequest(
    methods.client.session.requestPermission,
    ({ params: { toolCall } }) => {
      denied.push(toolCall.title ?? "a tool call");
      return { outcome: { outcome: "cancelled" } };
    },
  );
  const service = localAgent(environment, log, { task });
  const info = { name: CLIENT, title: "a batch", version: VERSION };
  const work = async (agent: ClientContext): Promise<SessionEnd> => ({
    ...(await converse(agent, options, signal)),
    denied,
  });
  return connectLocally(service, us, { capabilities: {}, info }, work);
}

async function converse(
  agent: ClientContext,
  { cwd, prompt, inspect }: SessionRun,
  signal: AbortSignal,
): Promise<Omit<SessionEnd, "denied">> {
  const _meta = { hermes: { trusted: true } };
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [], _meta });
  const cancel = (): void => void agent.notify(methods.agent.session.cancel, { sessionId });
  signal.addEventListener("abort", cancel, { once: true });
  try {
    signal.throwIfAborted();
    const end = await send(agent, sessionId, prompt);
    const whole = { ...end, trajectory: await call(agent, trajectoryMethod, { sessionId }) };
    const run: RunCommand = (command, ends = signal) =>
      call(agent, commandMethod, { sessionId, command }, { cancellationSignal: ends });
    if (end.error === undefined && !signal.aborted) await inspect?.(whole, run);
    return whole;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

async function send(
  agent: ClientContext,
  sessionId: string,
  text: string,
): Promise<Pick<SessionEnd, "stopReason" | "error">> {
  try {
    const prompt: ContentBlock[] = [{ type: "text", text }];
    const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
    return { stopReason, error: undefined };
  } catch (error) {
    return { stopReason: "error", error: ownWords(error).split("\n", 1)[0] };
  }
}
