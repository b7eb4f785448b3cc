/** Stored sessions: list, search, rename, export, import. */
import { homedir } from "node:os";
import {
  type AgentApp,
  type ListSessionsRequest,
  type ListSessionsResponse,
  methods,
  RequestError,
  type SessionInfo,
} from "@zed-industries/agent-client-protocol";
import { messageOf } from "../../platform/errors.ts";
import { invalidParams, onClientRequest } from "../../protocol/handle.ts";
import {
  type HermesListedSession,
  type HermesListMeta,
  type HermesSearchHits,
  sessionMethods,
} from "../../protocol/sessions.ts";
import { exportName, exportSession } from "../../sessions/export-session.ts";
import type { SessionSummary } from "../../sessions/index/queries.ts";
import type { FoundSession } from "../../sessions/index/search-messages.ts";
import { titleLine } from "../../sessions/titles.ts";
import type { AgentServer } from "../agent-server.ts";
import { snippetOf } from "../snippet.ts";

/** Sessions on a page; the cursor is time and id of its last one. */
const PAGE = 50;
const CURSOR = /^(-?\d+(?:\.\d+)?)_(\w+)$/;

const DEFAULT_HITS = 50;

/** Longest title that a client may set. Characters. */
const MAX_TITLE_CHARS = 300;

export function registerHistoryMethods(app: AgentApp, server: AgentServer): void {
  app.onRequest(methods.agent.session.list, ({ params }) => listPage(server, params));
  onClientRequest(app, sessionMethods.search, async ({ params: { query, cwd, limit = DEFAULT_HITS } }) => {
    const { value, building } = await server.stored.index.ask("found", { query, cwd, limit });
    return { hits: value.map((found) => hitOf(found, query)), ...(building !== undefined && { building }) };
  });
  onClientRequest(app, sessionMethods.rename, async ({ params: { sessionId, title } }) => {
    const line = titleLine(title);
    if (line === "" || line.length > MAX_TITLE_CHARS) {
      throw invalidParams("title", `expected 1 to ${MAX_TITLE_CHARS} visible characters`);
    }
    await server.renameSession(sessionId, line).catch(asRequestError);
    return {};
  });
  onClientRequest(app, sessionMethods.export, async ({ params: { sessionId, format } }) => {
    const stored = await server.readStored(sessionId);
    return { text: await exportSession(stored, format), fileName: exportName(stored, format) };
  });
  onClientRequest(app, sessionMethods.import, ({ params, signal }) =>
    server.importSessions(params, signal).catch(asRequestError),
  );
}

async function listPage(server: AgentServer, { cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
  const filter = { limit: PAGE + 1, cwd: cwd ?? undefined, after: positionOf(cursor) };
  const { value: found, building } = await server.stored.index.ask("list", filter);
  const page = found.slice(0, PAGE);
  const last = found.length > PAGE ? page.at(-1) : undefined;
  return {
    sessions: page.map((session) => listed(session, cwd ?? homedir())),
    ...(last !== undefined && { nextCursor: `${last.updatedAt}_${last.id}` }),
    ...(building !== undefined && { _meta: { hermes: { building } satisfies HermesListMeta } }),
  };
}

/** `folder`: for a session whose journal has lost the line with its own. */
function listed(session: SessionSummary, folder: string): SessionInfo {
  const { id, cwd, title, updatedAt, shownCount, costUsd, source } = session;
  const hermes: HermesListedSession = {
    messages: shownCount,
    ...(source !== null && { source }),
    ...(costUsd !== null && { costUsd }),
  };
  return {
    sessionId: id,
    cwd: cwd === "" ? folder : cwd,
    title,
    updatedAt: new Date(updatedAt).toISOString(),
    _meta: { hermes },
  };
}

/** Position of the page in the list, whatever became of the session since. */
function positionOf(
  cursor: string | null | undefined,
): { readonly updatedAt: number; readonly id: string } | undefined {
  if (cursor == null) return undefined;
  const [, time, id] = CURSOR.exec(cursor) ?? [];
  if (time !== undefined && id !== undefined) return { updatedAt: Number(time), id };
  throw invalidParams("cursor", "it is not a cursor from session/list");
}

function hitOf({ session, hit }: FoundSession, query: string): HermesSearchHits["hits"][number] {
  const { id, title, cwd, updatedAt, shownCount, costUsd } = session;
  return {
    sessionId: id,
    title,
    cwd,
    updatedAt: new Date(updatedAt).toISOString(),
    messages: shownCount,
    ...(costUsd !== null && { costUsd }),
    ...(hit === undefined ? { snippet: "", marks: [] } : { position: hit.position, ...snippetOf(hit.text, query) }),
  };
}

/** Throws the error's message as the protocol's error: the user can act on it. */
function asRequestError(error: unknown): never {
  throw error instanceof RequestError ? error : RequestError.internalError(undefined, messageOf(error));
}
