/** An open session: its turns and options, its earlier messages and restores, its background processes. */
import { type AgentApp, methods, RequestError } from "@zed-industries/agent-client-protocol";
import { pathBelow, resolvePath } from "../../platform/paths.ts";
import { steerMethod, waitsMethod } from "../../protocol/conversation.ts";
import { delegationMethods } from "../../protocol/delegation.ts";
import { fileMethods, WRITE_CONFLICT } from "../../protocol/files.ts";
import { INVALID_PARAMS, invalidParams, onClientNotification, onClientRequest } from "../../protocol/handle.ts";
import { type HermesProcessId, processMethods } from "../../protocol/processes.ts";
import { restoreMethods } from "../../protocol/restores.ts";
import { sessionMethods } from "../../protocol/sessions.ts";
import type { StoredSession } from "../../sessions/read-journal.ts";
import { processViews } from "../../tools/terminal/process-watch.ts";
import type { BackgroundProcess } from "../../tools/terminal/processes.ts";
import type { AcpSession } from "../acp-session.ts";
import type { AgentServer } from "../agent-server.ts";
import { EFFORT_OPTION, MODEL_OPTION, modeIds, modeOf } from "../config-options.ts";
import { userText } from "../conversation-updates.ts";
import { userMessage, withFittingPictures } from "../prompt-content.ts";
import { ReplayPages } from "../replay.ts";

/** Prompt, cancel, steer, mode, model, effort. */
export function registerTurnMethods(app: AgentApp, server: AgentServer): void {
  app.onRequest(methods.agent.session.prompt, ({ params, signal }) =>
    server.session(params.sessionId).prompts.run(params.prompt, signal),
  );
  // A notification has no response: an unknown session has nothing to cancel.
  app.onNotification(methods.agent.session.cancel, ({ params }) => server.findSession(params.sessionId)?.cancel());
  onClientRequest(app, steerMethod, async ({ params: { sessionId, prompt }, signal }) => {
    const { agent } = server.session(sessionId);
    const isQueued = agent.turns.steer(await withFittingPictures(userMessage(prompt), agent, signal));
    if (!isQueued) throw new RequestError(-32600, "No turn is running in this session; send a prompt instead.");
    return { queued: true as const };
  });
  onClientNotification(app, waitsMethod, ({ params: { sessionId, waits } }) => {
    const prompts = server.findSession(sessionId)?.prompts;
    if (prompts !== undefined) prompts.isAwaited = waits;
  });
  app.onRequest(methods.agent.session.setMode, ({ params: { sessionId, modeId } }) => {
    const session = server.session(sessionId);
    const mode = modeOf(modeId);
    if (mode === undefined) {
      throw invalidParams("modeId", `there is no mode ${JSON.stringify(modeId)}; available: ${modeIds()}`);
    }
    session.setMode(mode);
  });
  app.onRequest(methods.agent.session.setConfigOption, async ({ params: { sessionId, configId, value } }) => {
    const session = server.session(sessionId);
    await setOption(session, configId, value);
    return { configOptions: session.configOptions };
  });
}

async function setOption(session: AcpSession, id: string, value: string | boolean): Promise<void> {
  const option = session.configOptions.find((candidate) => candidate.id === id);
  if (option === undefined) {
    const known = session.configOptions.map((candidate) => candidate.id).join(", ");
    throw invalidParams("configId", `there is no option ${JSON.stringify(id)}; available: ${known}`);
  }
  if (value === option.currentValue) return;
  const problem = await changeOption(session, id, String(value));
  if (problem !== undefined) throw invalidParams("value", problem);
}

/** Returns the problem, in one line. */
async function changeOption(session: AcpSession, id: string, value: string): Promise<string | undefined> {
  if (id === MODEL_OPTION) return session.model.chooseNamed(value);
  if (id === EFFORT_OPTION) return session.model.setEffort(value);
  const mode = modeOf(value);
  if (mode === undefined) return `${JSON.stringify(value)} is not a value of ${id}`;
  session.setMode(mode);
  return undefined;
}

/** Earlier pages, contents of the window, rewind, restores, files of the session's folder. */
export function registerConversationMethods(app: AgentApp, server: AgentServer): void {
  const { files } = server.options.local;
  const inFolder = ({ sessionId, path }: { readonly sessionId: string; readonly path: string }): string => {
    const { cwd } = server.session(sessionId);
    const real = resolvePath(path);
    if (pathBelow(resolvePath(cwd), real) === undefined) throw invalidParams("path", `${path} is outside ${cwd}`);
    return real;
  };
  onClientRequest(app, fileMethods.read, async ({ params, signal }) => {
    const read = await files.readText(inFolder(params), signal);
    if (!read.ok) throw invalidParams("path", read.message);
    return { text: read.text };
  });
  onClientRequest(app, fileMethods.write, async ({ params, signal }) => {
    const { expected, text: after } = params;
    const written = await files.guardedWrite({ path: inFolder(params), expected, after, purpose: "revert" }, signal);
    if (written.ok) return {};
    throw new RequestError(written.reason === "conflict" ? WRITE_CONFLICT : INVALID_PARAMS, written.message);
  });
  // Allowed while a turn runs.
  onClientRequest(app, sessionMethods.earlier, ({ params: { sessionId, ...page }, signal }) =>
    server.session(sessionId).earlier.page({ ...page, signal }),
  );
  onClientRequest(app, sessionMethods.context, ({ params, signal }) =>
    server.session(params.sessionId).agent.context.contents(signal),
  );
  onClientRequest(app, sessionMethods.trajectory, ({ params }) => server.session(params.sessionId).agent.trajectory());
  onClientRequest(app, sessionMethods.command, ({ params: { sessionId, command }, signal }) =>
    server.session(sessionId).agent.shell.runForClient(command, signal),
  );
  onClientRequest(app, sessionMethods.rewind, ({ params: { sessionId, position } }) => {
    const session = server.session(sessionId);
    return session.prompts.betweenTurns(async () => {
      const removed = session.agent.transcript.find((candidate) => candidate.position === position);
      session.agent.rewind(position);
      return { prompt: userText(removed?.message) };
    });
  });
  onClientRequest(app, restoreMethods.preview, ({ params: { sessionId, position, withTexts = false }, signal }) => {
    const { restores } = withPoint(server.session(sessionId), position);
    return restores.preview(position, withTexts, signal);
  });
  onClientRequest(app, restoreMethods.restore, ({ params: { sessionId, position, ...parts }, signal }) => {
    const session = withPoint(server.session(sessionId), position);
    return session.prompts.betweenTurns(() => session.restores.restore(position, parts, signal));
  });
  onClientRequest(app, restoreMethods.undo, async ({ params: { sessionId, restoreId }, signal }) => {
    const session = server.session(sessionId);
    const undone = await session.prompts.betweenTurns(() => session.restores.undo(restoreId, signal));
    if (undone === undefined) throw invalidParams("restoreId", "no such restore");
    return undone;
  });
}

/** The session, if it has a user message at this position. */
function withPoint(session: AcpSession, position: number): AcpSession {
  if (session.restores.points().some((point) => point.position === position)) return session;
  throw invalidParams("position", `the session has no user message at position ${position}`);
}

/** Size of a page of a sub-agent's conversation. Messages. */
const TRANSCRIPT_MESSAGES = 200;

/** Sub-agents: stop, steer, conversation. */
export function registerDelegationMethods(app: AgentApp, server: AgentServer): void {
  onClientRequest(app, delegationMethods.stop, ({ params: { sessionId, callId, taskId } }) =>
    server.session(sessionId).agent.delegation?.stop(callId, taskId),
  );
  onClientRequest(app, delegationMethods.steer, ({ params: { sessionId, callId, taskId, text } }) => {
    const isSteered = server.session(sessionId).agent.delegation?.steer(callId, taskId, text) ?? false;
    if (!isSteered) throw new RequestError(-32600, `The task ${JSON.stringify(taskId)} does not run.`);
  });
  onClientRequest(app, delegationMethods.transcript, async ({ params: { sessionId, child, before }, signal }) => {
    const stored = await subAgent(server, server.session(sessionId).id, child);
    const pages = new ReplayPages(() => stored.conversation.transcript, stored);
    return pages.page({ before: before ?? Number.POSITIVE_INFINITY, messages: TRANSCRIPT_MESSAGES, signal });
  });
}

/** The stored session of a sub-agent. Throws the protocol's error for any other session. */
async function subAgent(server: AgentServer, root: string, id: string): Promise<StoredSession> {
  const stored = await server.readStored(id);
  for (let { delegatedBy } = stored; delegatedBy !== undefined; ) {
    if (delegatedBy === root) return stored;
    ({ delegatedBy } = await server.readStored(delegatedBy));
  }
  throw invalidParams("child", `${JSON.stringify(id)} is not a sub-agent of this session`);
}

/** Background processes: list, input, stop. */
export function registerProcessMethods(app: AgentApp, server: AgentServer): void {
  onClientRequest(app, processMethods.list, async ({ params }) => ({
    processes: await processViews(server.session(params.sessionId).agent.shell.processes),
  }));
  onClientRequest(app, processMethods.input, async ({ params }) => {
    const outcome = await processOf(server, params).writeForUser(params.text);
    return outcome.ok ? {} : { reason: outcome.reason };
  });
  onClientRequest(app, processMethods.stop, ({ params }) => processOf(server, params).stopForUser());
}

/** Throws the protocol's error when there is none. */
function processOf(server: AgentServer, { sessionId, id }: HermesProcessId): BackgroundProcess {
  const found = server.session(sessionId).agent.shell.processes.find(id);
  if (found !== undefined) return found;
  throw invalidParams("id", `there is no process ${JSON.stringify(id)}`);
}
