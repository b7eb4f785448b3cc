/** The conversation and the files of an open session: earlier pages, rewind, restores. */
import type { AgentApp } from "@zed-industries/agent-client-protocol";
import { invalidParams, onClientRequest } from "../../protocol/handle.ts";
import { restoreMethods } from "../../protocol/restores.ts";
import { sessionMethods } from "../../protocol/sessions.ts";
import type { AcpSession } from "../acp-session.ts";
import type { AgentServer } from "../agent-server.ts";
import { userText } from "../conversation-updates.ts";

export function registerConversationMethods(app: AgentApp, server: AgentServer): void {
  // Allowed while a turn runs.
  onClientRequest(app, sessionMethods.earlier, ({ params: { sessionId, ...page }, signal }) =>
    server.session(sessionId).earlier.page({ ...page, signal }),
  );
  onClientRequest(app, sessionMethods.rewind, ({ params: { sessionId, position } }) => {
    const session = server.session(sessionId);
    return session.betweenTurns(async () => {
      const said = session.agent.transcript.find((candidate) => candidate.position === position);
      session.agent.rewind(position);
      return { prompt: userText(said?.message) };
    });
  });
  onClientRequest(app, restoreMethods.preview, ({ params: { sessionId, position, withTexts = false }, signal }) => {
    const { restores } = withPoint(server.session(sessionId), position);
    return restores.preview(position, withTexts, signal);
  });
  onClientRequest(app, restoreMethods.restore, ({ params: { sessionId, position, ...parts }, signal }) => {
    const session = withPoint(server.session(sessionId), position);
    return session.betweenTurns(() => session.restores.restore(position, parts, signal));
  });
  onClientRequest(app, restoreMethods.undo, async ({ params: { sessionId, restoreId }, signal }) => {
    const session = server.session(sessionId);
    const undone = await session.betweenTurns(() => session.restores.undo(restoreId, signal));
    if (undone === undefined) throw invalidParams("restoreId", "no such restore");
    return undone;
  });
}

/** The session, if it has a user message at this position. */
function withPoint(session: AcpSession, position: number): AcpSession {
  if (session.restores.points().some((point) => point.position === position)) return session;
  throw invalidParams("position", `the session has no user message at position ${position}`);
}
