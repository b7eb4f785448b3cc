/** Life of sessions: new, load, resume, fork, close, delete. */
import { type AgentApp, methods, type NewSessionResponse } from "@zed-industries/agent-client-protocol";
import { onClientRequest } from "../../protocol/handle.ts";
import { readMeta } from "../../protocol/meta.ts";
import { forkMethod, HermesLoadMeta } from "../../protocol/sessions.ts";
import type { AcpSession } from "../acp-session.ts";
import type { AgentServer } from "../agent-server.ts";
import { modeState } from "../config-options.ts";
import { replay } from "../replay.ts";
import { earlierUpdate, pageBefore } from "../replay-pages.ts";
import { sessionParams } from "../session-params.ts";

export function registerSessionMethods(app: AgentApp, server: AgentServer): void {
  // The library asks its handlers one after the other. Among requests that arrive together, the first ones here start
  // first: a session that is being deleted is not opened meanwhile.
  app.onRequest(methods.agent.session.delete, async ({ params }) => {
    await server.deleteSession(params.sessionId);
    return {};
  });
  app.onRequest(methods.agent.session.close, async ({ params }) => {
    await server.closeSession(server.session(params.sessionId).id);
    return {};
  });
  app.onRequest(methods.agent.session.new, async ({ params, client }) => {
    const session = await server.newSession(client, sessionParams(params));
    return { sessionId: session.id, ...opened(session) };
  });
  app.onRequest(methods.agent.session.load, async ({ params, client }) => {
    const { session, stored } = await server.loadSession(client, sessionParams(params), params.sessionId);
    const tail = readMeta(HermesLoadMeta, params._meta)?.tail;
    const { said, earlier } = pageBefore(stored.conversation.transcript, stored.conversation.next, tail);
    if (earlier !== null) session.send(earlierUpdate(earlier));
    await session.sendAll(replay(stored, said));
    if (stored.title !== undefined) session.send({ sessionUpdate: "session_info_update", title: stored.title });
    return opened(session);
  });
  // As session/load, for a client that shows the history itself.
  app.onRequest(methods.agent.session.resume, async ({ params, client }) => {
    const { session } = await server.loadSession(client, sessionParams(params), params.sessionId);
    return opened(session);
  });
  onClientRequest(app, forkMethod, async ({ params: { sessionId, ...place }, client }) => {
    const position = place._meta?.hermes?.position;
    const from = { id: sessionId, ...(position !== undefined && { position }) };
    const session = await server.forkSession(client, sessionParams(place), from);
    return { sessionId: session.id, ...opened(session) };
  });
}

/** Response for a session that is open now. The slash commands follow it. */
function opened(session: AcpSession): Omit<NewSessionResponse, "sessionId"> {
  session.announceCommands();
  return { modes: modeState(session.mode), configOptions: session.configOptions };
}
