/** The panel goes on with another session: the one it leaves may be opened elsewhere. */
import { methods, RequestError } from "@zed-industries/agent-client-protocol";
import { call } from "../../agent-core/protocol/method.ts";
import { processMethods } from "../../agent-core/protocol/processes.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";

/** Closes a session, unless something runs in its background: that would end with it. True when it is closed. */
export async function leaveSession(worker: AgentWorker, sessionId: string): Promise<boolean> {
  try {
    const agent = await worker.agent();
    const { processes } = await call(agent, processMethods.list, { sessionId });
    if (processes.some(({ state }) => state !== "ended")) return false;
    await agent.request(methods.agent.session.close, { sessionId });
  } catch (error) {
    if (!(error instanceof RequestError)) throw error; // else it is not open any more
  }
  return true;
}
