/** Messages of the panel about sessions as a whole: list, open, rename, fork, export, delete. */
import type { AgentWorker } from "../../agent/agent-worker.ts";
import type { PanelActions } from "../chat-view.ts";
import { exportSession } from "../export-session.ts";
import type { PanelConnection } from "../panel-connection.ts";
import type { SessionHistory } from "../session-history.ts";
import type { Sessions } from "../sessions.ts";
import { withErrorMessage } from "../with-error-message.ts";

type Services = {
  readonly sessions: Sessions;
  readonly panel: PanelConnection;
  readonly history: SessionHistory;
  readonly worker: AgentWorker;
};

export type HistoryActions = PanelActions<
  | "new-session"
  | "history-close"
  | "history-search"
  | "history-more"
  | "session-open"
  | "session-rename"
  | "session-delete"
  | "session-fork"
  | "session-export"
>;

export function historyActions({ sessions, panel, history, worker }: Services): HistoryActions {
  return {
    "new-session": () => sessions.showNew(),
    "history-close": () => history.close(),
    "history-search": ({ query, everywhere }) => history.search(query, everywhere),
    "history-more": () => history.more(),
    "session-open": ({ sessionId }) => sessions.showStored(sessionId),
    "session-rename": ({ sessionId, title }) => history.rename(sessionId, title),
    "session-delete": ({ sessionId }) => history.remove(sessionId),
    "session-fork": ({ sessionId }) =>
      withErrorMessage("The session cannot be forked", async () => {
        panel.command({ kind: "open-session", sessionId: await sessions.fork(sessionId) });
      }),
    "session-export": ({ sessionId }) =>
      withErrorMessage("The session cannot be exported", () => exportSession(worker, sessionId)),
  };
}
