/** Everything that was learnt, for the user: the page "Hermes: Learning" in a tab, and one line in the chat panels. */
import type { ClientContext } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import type * as z from "zod";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { cronMethods } from "../../agent-core/protocol/cron.ts";
import { learningMethods } from "../../agent-core/protocol/learning.ts";
import {
  type LearningData,
  type LearningHostMessage,
  LearningPageMessage,
  type LearningSection,
} from "../../agent-core/protocol/learning-page.ts";
import { call } from "../../agent-core/protocol/method.ts";
import type { WorkspaceFacts } from "../../agent-core/protocol/panel-events.ts";
import { sessionMethods } from "../../agent-core/protocol/sessions.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import { type PageParts, pageHtml } from "../chat/panel-page.ts";
import { openPath } from "../chat/session-extensions.ts";
import { LEARNING_TAB, showPanel } from "../commands/show-panel.ts";

type Action = Exclude<LearningPageMessage, { type: "ready" }>;

export class Learning implements vscode.WebviewPanelSerializer {
  readonly #parts: PageParts;
  readonly #worker: AgentWorker;
  #tab: vscode.WebviewPanel | undefined;
  /** Section to show when the page runs. */
  #section: LearningSection | undefined;
  #data: LearningData | undefined;
  #refresh: Promise<void> | undefined;
  /** The data changed while it was read. */
  #isStale: boolean = false;
  /** Items of the line in the panels. */
  #newest: readonly string[] = [];

  constructor(parts: PageParts, worker: AgentWorker) {
    this.#parts = parts;
    this.#worker = worker;
  }

  /** Opens the tab, or shows the open one. */
  show(section: LearningSection | undefined): void {
    this.#section = section;
    if (this.#tab === undefined) {
      const title = vscode.l10n.t("Hermes: Learning");
      this.#serve(vscode.window.createWebviewPanel(LEARNING_TAB, title, vscode.ViewColumn.Active));
    } else {
      this.#tab.reveal();
      this.#showSection();
    }
  }

  /** Opens the tab and does everything that is due. */
  async learnNow(): Promise<void> {
    this.show("learnt");
    await this.#act({ type: "learn" });
  }

  /** A tab of the last window. */
  async deserializeWebviewPanel(tab: vscode.WebviewPanel): Promise<void> {
    this.#serve(tab);
  }

  /** Something was learnt, changed or used. `message`: one line for the user. */
  changed({ message, items, isUse }: z.infer<typeof learningMethods.changed.params>): void {
    if (message !== undefined) {
      this.#newest = items;
      this.#showLine({ message, canUndo: items.length > 0, ...(isUse && { isUse }) });
    }
    void this.refresh();
  }

  /** Takes back what the line in the panels names. */
  async undoNewest(): Promise<void> {
    const ids = this.#newest;
    this.#newest = [];
    try {
      const agent = await this.#worker.agent();
      const outcomes = [];
      for (const id of ids) outcomes.push(await call(agent, learningMethods.act, { id, action: "undo" }));
      const { message } = outcomes.find(({ ok }) => !ok) ?? outcomes[0] ?? { message: "" };
      this.#showLine(message === "" ? null : { message, canUndo: false });
    } catch (error) {
      this.#showLine({ message: messageOf(error), canUndo: false });
    }
    await this.refresh();
  }

  /** Removes the line from the panels. */
  dismiss(): void {
    if (this.#parts.panels.facts.learnt !== null) this.#showLine(null);
  }

  /** Reads the data again for an open page. One read runs at a time. */
  refresh(): Promise<void> {
    if (this.#tab?.visible !== true) return Promise.resolve();
    if (this.#refresh !== undefined) {
      this.#isStale = true;
      return this.#refresh;
    }
    const refresh = this.#sendData().finally(() => {
      this.#refresh = undefined;
    });
    this.#refresh = refresh;
    return refresh;
  }

  async #sendData(): Promise<void> {
    do {
      this.#isStale = false;
      try {
        this.#data = await this.#read();
        this.#post({ type: "data", data: this.#data });
      } catch (error) {
        this.#post({ type: "failed", message: messageOf(error) });
      }
    } while (this.#isStale);
  }

  async #read(): Promise<LearningData> {
    const agent = await this.#worker.agent();
    const [state, { reports }, cron] = await Promise.all([
      call(agent, learningMethods.state, {}),
      call(agent, learningMethods.reports, {}),
      call(agent, cronMethods.list, {}).catch((error: unknown) => {
        this.#parts.log.warn(`The planned jobs cannot be listed: ${messageOf(error)}`);
        return null;
      }),
    ]);
    const ids = sessionsIn({ state, reports, cron });
    const { titles } = await call(agent, sessionMethods.titles, { ids });
    return { state, reports, cron, titles };
  }

  #serve(tab: vscode.WebviewPanel): void {
    this.#tab?.dispose();
    this.#tab = tab;
    const { root, log } = this.#parts;
    tab.iconPath = new vscode.ThemeIcon("mortar-board");
    tab.webview.options = { enableScripts: true, localResourceRoots: [root] };
    tab.webview.onDidReceiveMessage((raw: unknown) => {
      const message = LearningPageMessage.safeParse(raw).data;
      if (message === undefined) return;
      if (message.type === "ready") {
        this.#showSection();
        void this.refresh();
      } else this.#act(message).catch((error: unknown) => log.error(messageOf(error)));
    });
    tab.onDidDispose(() => {
      if (this.#tab === tab) this.#tab = undefined;
    });
    tab.webview.html = pageHtml(tab.webview, root, "learning");
  }

  #showSection(): void {
    if (this.#section !== undefined) this.#post({ type: "show", section: this.#section });
  }

  #showLine(learnt: WorkspaceFacts["learnt"]): void {
    this.#parts.panels.setFacts({ learnt });
  }

  /** A hidden page has no script. It asks for the data when it is shown. */
  #post(message: LearningHostMessage): void {
    void this.#tab?.webview.postMessage(message);
  }

  async #act(action: Action): Promise<void> {
    const { panels } = this.#parts;
    switch (action.type) {
      case "act":
        return this.#report(action.id, (agent) =>
          call(agent, learningMethods.act, { id: action.id, action: action.action }),
        );
      case "switch":
        return this.#report(action.name, (agent) =>
          call(agent, learningMethods.switch, { name: action.name, on: action.on }),
        );
      case "learn":
        return this.#report("learn", (agent) => call(agent, learningMethods.run, {}));
      case "job":
        return this.#report(action.id, (agent) =>
          call(agent, cronMethods.act, { job: action.id, action: action.action }),
        );
      case "open-session":
        await showPanel({ panels }, { kind: "open-session", sessionId: action.sessionId }, panels.sideBar);
        break;
      case "open-item": {
        const path = this.#data?.state.items.find(({ id }) => id === action.id)?.path;
        if (path !== undefined) await openPath(vscode.Uri.file(path));
        break;
      }
      case "open-place":
        if (action.place === "config") await vscode.commands.executeCommand("hermes.openConfig");
        else if (this.#data !== undefined) await openPath(vscode.Uri.file(this.#data.state.folder));
        break;
      case "set-up-model":
        await vscode.commands.executeCommand("hermes.setUpModel");
        break;
    }
  }

  /** Runs an action, then sends the new data and the outcome. `about`: see `acted`. */
  async #report(
    about: string,
    run: (agent: ClientContext) => Promise<{ readonly ok?: boolean; readonly message?: string }>,
  ): Promise<void> {
    const { ok = true, message = "" } = await this.#worker
      .agent()
      .then(run)
      .catch((error: unknown) => ({ ok: false, message: messageOf(error) }));
    await this.refresh();
    this.#post({ type: "acted", about, message, isError: !ok });
  }
}

/** Ids of the sessions that the page names. */
function sessionsIn({ state, reports, cron }: Omit<LearningData, "titles">): readonly string[] {
  const shown = reports.slice(0, 1); // only the newest report names its sessions
  const ids = [
    ...state.items.flatMap(({ sessions }) => sessions),
    ...shown.flatMap(({ regressions }) => regressions.flatMap(({ sessions }) => sessions)),
    ...(cron?.runs ?? []).flatMap(({ sessionId }) => sessionId ?? []),
  ];
  return [...new Set(ids)];
}
