/** The page with the stored sessions: search, open, rename, fork, export, delete. */
import type { PanelMessage } from "../../../webview/panel-protocol.ts";
import { exportSession } from "../export-session.ts";
import { told } from "../told.ts";
import type { Actions } from "./actions.ts";

export const historyActions: Actions<Extract<PanelMessage["type"], `history-${string}` | `session-${string}`>> = {
  "history-close": (_message, { history }) => history.close(),
  "history-search": ({ query, everywhere }, { history }) => history.search(query, everywhere),
  "history-more": (_message, { history }) => history.more(),
  "session-open": ({ sessionId }, { chat }) => chat.openStored(sessionId),
  "session-rename": ({ sessionId, title }, { history }) => history.rename(sessionId, title),
  "session-delete": ({ sessionId }, { history }) => history.remove(sessionId),
  "session-fork": ({ sessionId }, { chat, panel }) =>
    told("The session cannot be forked", async () => {
      panel.command({ kind: "open-session", sessionId: await chat.fork(sessionId) });
    }),
  "session-export": ({ sessionId }, { worker }) =>
    told("The session cannot be exported", () => exportSession(worker, sessionId)),
};
