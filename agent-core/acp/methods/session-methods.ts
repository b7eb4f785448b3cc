/** Sessions as a whole: their life, and the list of stored ones. */
import { homedir } from "node:os";
import {
  type AgentApp,
  type ListSessionsResponse,
  methods,
  type NewSessionResponse,
  type SessionInfo,
  type SessionUpdate,
} from "@zed-industries/agent-client-protocol";
import { branchIn } from "../../host/git-layout.ts";
import { sandboxText } from "../../host/terminals/terminals.ts";
import { invalidParams, onClientRequest } from "../../protocol/handle.ts";
import { readMeta } from "../../protocol/method.ts";
import {
  forkMethod,
  type HermesListedSession,
  HermesListFilter,
  type HermesListMeta,
  HermesLoadMeta,
  type HermesOpenedMeta,
  type HermesRename,
  type HermesSearchHits,
  type HermesShelve,
  type ListParams,
  sessionMethods,
  unstableMethods,
} from "../../protocol/sessions.ts";
import type { TranscriptEntry } from "../../sessions/conversation.ts";
import type { SessionSummary } from "../../sessions/index/queries.ts";
import type { FoundSession } from "../../sessions/index/search-messages.ts";
import type { snippetOf } from "../../sessions/index/search-text.ts";
import type { StoredSession } from "../../sessions/read-journal.ts";
import { titleLine } from "../../sessions/titles.ts";
import type { AcpSession } from "../acp-session.ts";
import type { AgentServer } from "../agent-server.ts";
import { modeState } from "../config-options.ts";
import { infoUpdate } from "../conversation-updates.ts";
import { pageBefore, replay } from "../replay.ts";
import { throwRequestError } from "../request-errors.ts";
import { folderOf, sessionParams } from "../session-params.ts";

/** New, load, resume, fork, close, delete. */
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
    const startsInWorktree =
      session.options.configured.config.worktree &&
      (await (await import("../../host/worktrees.ts")).startsInWorktree(session.cwd));
    return { sessionId: session.id, ...opened(session, server, { startsInWorktree }) };
  });
  app.onRequest(methods.agent.session.load, async ({ params, client }) => {
    const { tail, inWorktree } = readMeta(HermesLoadMeta, params._meta) ?? {};
    const asked = sessionParams(params);
    const { session, stored } = await server.loadSession(client, asked, params.sessionId, inWorktree);
    const { page, earlier } = pageBefore(stored.conversation.transcript, stored.conversation.next, tail);
    if (earlier !== null) session.send(infoUpdate({ earlier }));
    await session.updates.sendAll(replayed(stored, page));
    session.sendUsage();
    return opened(session, server, session.cwd === asked.cwd ? {} : { worktree: session.cwd });
  });
  onClientRequest(app, sessionMethods.replay, async ({ params: { sessionId, upTo = Number.POSITIVE_INFINITY } }) => {
    const stored = await server.readStored(server.session(sessionId).id);
    const page = stored.conversation.transcript.filter(({ position }) => position <= upTo);
    return { updates: [...replayed(stored, page)] };
  });
  // As session/load, for a client that shows the history itself.
  app.onRequest(methods.agent.session.resume, async ({ params, client }) => {
    const { session } = await server.loadSession(client, sessionParams(params), params.sessionId);
    session.sendUsage();
    return opened(session, server);
  });
  onClientRequest(app, forkMethod, async ({ params: { sessionId, ...place }, client }) => {
    const { position, inWorktree } = place._meta?.hermes ?? {};
    const from = { id: sessionId, ...(position !== undefined && { position }), ...(inWorktree && { inWorktree }) };
    const session = await server.forkSession(client, sessionParams(place), from);
    return { sessionId: session.id, ...opened(session, server) };
  });
}

/** The conversation with its title. */
function* replayed(stored: StoredSession, page: readonly TranscriptEntry[]): Generator<SessionUpdate> {
  yield* replay(stored, page);
  if (stored.title !== undefined) yield { sessionUpdate: "session_info_update", title: stored.title };
}

/** Response for a session that is open now. The slash commands follow it. */
function opened(
  session: AcpSession,
  { client }: AgentServer,
  place: Pick<HermesOpenedMeta, "startsInWorktree" | "worktree"> = {},
): Omit<NewSessionResponse, "sessionId"> {
  session.announceExtensions();
  const response = { modes: modeState(session.mode), configOptions: session.configOptions };
  if (client.ours.sandbox !== true) return response;
  const { sandboxState: sandbox } = session.agent.setup.host.terminals;
  const hermes: HermesOpenedMeta = {
    sandbox: sandbox === undefined ? null : { ...sandbox, text: sandboxText(sandbox) },
    busyInputMode: session.options.configured.config.display.busyInputMode,
    ...place,
  };
  return { ...response, _meta: { hermes } };
}

/** Sessions on a page; the cursor is time and id of its last one. */
const PAGE = 50;
const CURSOR = /^(-?\d+(?:\.\d+)?)_(\w+)$/;

const ARCHIVED = { exclude: "listed", include: undefined, only: "archived" } as const;

const DEFAULT_HITS = 50;

/** Longest title that a client may set. Characters. */
const MAX_TITLE_CHARS = 300;

/** List, search, rename, pin, archive, export, import. */
export function registerHistoryMethods(app: AgentApp, server: AgentServer): void {
  onClientRequest(app, unstableMethods.list, ({ params }) => listPage(server, params));
  onClientRequest(app, sessionMethods.search, async ({ params: { limit = DEFAULT_HITS, ...asked } }) => {
    const { value, building } = await server.stored.index.ask("found", { ...asked, limit });
    const { snippetOf: snippet } = await import("../../sessions/index/search-text.ts");
    return {
      hits: value.map((found) => hitOf(found, (text) => snippet(text, asked.query))),
      ...(building !== undefined && { building }),
    };
  });
  onClientRequest(app, sessionMethods.titles, async ({ params: { ids } }) => {
    const { value } = await server.stored.index.ask("titles", ids);
    return { titles: Object.fromEntries(value.map(({ id, title }) => [id, title ?? ""])) };
  });
  const rename = async ({ sessionId, title }: HermesRename): Promise<void> => {
    const line = titleLine(title);
    if (line === "" || line.length > MAX_TITLE_CHARS) {
      throw invalidParams("title", `expected 1 to ${MAX_TITLE_CHARS} visible characters`);
    }
    await server.renameSession(sessionId, line).catch(throwRequestError);
  };
  const shelve = ({ sessionId, shelf }: HermesShelve): Promise<void> =>
    server.shelveSession(sessionId, shelf).catch(throwRequestError);
  onClientRequest(app, sessionMethods.rename, ({ params }) => rename(params));
  onClientRequest(app, unstableMethods.setTitle, ({ params }) => rename(params));
  onClientRequest(app, sessionMethods.shelve, ({ params }) => shelve(params));
  onClientRequest(app, unstableMethods.archive, ({ params }) => shelve({ ...params, shelf: "archived" }));
  onClientRequest(app, unstableMethods.unarchive, ({ params }) => shelve({ ...params, shelf: null }));
  onClientRequest(app, unstableMethods.status, async ({ params: { sessionId } }) => {
    if (server.findSession(sessionId) !== undefined) return { status: "open" as const };
    await server.readStored(sessionId);
    return { status: "saved" as const };
  });
  onClientRequest(app, sessionMethods.export, async ({ params: { sessionId, format } }) => {
    const { exportName, exportSession } = await import("../../sessions/export-session.ts");
    const stored = await server.readStored(sessionId);
    return { text: await exportSession(stored, format), fileName: exportName(stored, format) };
  });
  onClientRequest(app, sessionMethods.import, ({ params, signal }) =>
    server.stored.import(params, signal).catch(throwRequestError),
  );
}

async function listPage(
  server: AgentServer,
  { cwd, cursor, archived, _meta }: ListParams,
): Promise<ListSessionsResponse> {
  const { shelf = ARCHIVED[archived ?? "exclude"], limit = PAGE, worktrees } = readMeta(HermesListFilter, _meta) ?? {};
  const folder = { cwd: cwd == null ? undefined : folderOf(cwd), worktrees };
  const filter = { limit: limit + 1, ...folder, after: positionOf(cursor), shelf };
  const { value: found, building } = await server.stored.index.ask("list", filter);
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  const branches = new Map(
    [...new Set(page.map((session) => session.cwd))].map((folder) => [folder, branchIn(folder)]),
  );
  return {
    sessions: await Promise.all(
      page.map((session) => listed(server, session, cwd ?? homedir(), branches.get(session.cwd))),
    ),
    ...(last !== undefined && { nextCursor: `${last.updatedAt}_${last.id}` }),
    ...(building !== undefined && { _meta: { hermes: { building } satisfies HermesListMeta } }),
  };
}

/** `folder`: for a session whose journal has lost the line with its own. */
async function listed(
  server: AgentServer,
  session: SessionSummary,
  folder: string,
  branch: string | undefined,
): Promise<SessionInfo> {
  const { id, cwd, title, updatedAt, shownCount, costUsd, source, shelf } = session;
  const { folders = [], origin } = await server.stored.headOf(id);
  const state = server.stored.stateOf(id);
  const hermes: HermesListedSession = {
    messages: shownCount,
    ...(shelf !== null && { shelf }),
    ...(source !== null && { source }),
    ...(origin === "cron" && { isJob: true }),
    ...(costUsd !== null && { costUsd }),
    ...(state !== undefined && { state }),
    ...(branch !== undefined && { branch }),
  };
  return {
    sessionId: id,
    cwd: cwd === "" ? folder : cwd,
    additionalDirectories: [...folders],
    title,
    updatedAt: new Date(updatedAt).toISOString(),
    ...{ archived: shelf === "archived" }, // not stable yet, so that the type does not have it
    _meta: { hermes },
  };
}

/** Position of the page in the list. The session that it names may have changed. */
function positionOf(
  cursor: string | null | undefined,
): { readonly updatedAt: number; readonly id: string } | undefined {
  if (cursor == null) return undefined;
  const [, time, id] = CURSOR.exec(cursor) ?? [];
  if (time !== undefined && id !== undefined) return { updatedAt: Number(time), id };
  throw invalidParams("cursor", "it is not a cursor from session/list");
}

function hitOf(
  { session, hit }: FoundSession,
  snippet: (text: string) => ReturnType<typeof snippetOf>,
): HermesSearchHits["hits"][number] {
  const { id, title, cwd, updatedAt, shownCount, costUsd, shelf } = session;
  return {
    sessionId: id,
    title,
    cwd,
    updatedAt: new Date(updatedAt).toISOString(),
    messages: shownCount,
    ...(shelf !== null && { shelf }),
    ...(costUsd !== null && { costUsd }),
    ...(hit === undefined ? { snippet: "", marks: [] } : { position: hit.position, ...snippet(hit.text) }),
  };
}
