/** Sessions in tabs of the editor. Each tab has a panel, and its title and icon show the session's title and state. */
import * as vscode from "vscode";
import * as z from "zod";
import { truncate } from "../../agent-core/platform/one-line.ts";
import { SESSION_TAB } from "../commands/show-panel.ts";
import type { ChatSession } from "./chat-session.ts";
import { type PageParts, servePage } from "./panel-page.ts";
import type { ChatPanel } from "./panels.ts";
import type { SessionActivity, Sessions } from "./sessions.ts";

/** The part of the page's kept state with the session that a restored tab shows. */
const KeptState = z.object({ sessionId: z.string() });

type Tab = { readonly panel: ChatPanel; readonly webviewPanel: vscode.WebviewPanel };

export class EditorTabs implements vscode.WebviewPanelSerializer {
  readonly #parts: PageParts;
  readonly #sessions: Sessions;
  readonly #tabs = new Set<Tab>();

  constructor(parts: PageParts, sessions: Sessions) {
    this.#parts = parts;
    this.#sessions = sessions;
    sessions.onDidChange(() => this.#showStates());
  }

  /** Opens a new session beside the active editor. */
  openNew(): void {
    const isEmpty = vscode.window.tabGroups.activeTabGroup.activeTab === undefined;
    const column = isEmpty ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside;
    this.#open(column, (panel) => this.#sessions.showNew(panel));
  }

  /** Shows a session in a tab: the one of the side bar moves, any other one is opened. */
  open(sessionId: string | undefined): void {
    const { sideBar } = this.#parts.panels;
    const showing = sessionId === undefined ? sideBar : this.#sessions.panelOf(sessionId);
    if (showing?.place === "tab") showing.reveal();
    else if (showing === sideBar) this.#moveToTab(sideBar);
    else if (sessionId !== undefined)
      this.#open(vscode.ViewColumn.Active, (panel) => this.#sessions.showStored(panel, sessionId));
  }

  /** Moves the session of the active tab, with its unsent message, into the side bar, and closes the tab. */
  async moveToSideBar(): Promise<void> {
    const tab = [...this.#tabs].find(({ webviewPanel }) => webviewPanel.active);
    if (tab === undefined) return;
    const draft = await tab.panel.takeDraft();
    const { sideBar } = this.#parts.panels;
    this.#sessions.show(sideBar, tab.panel.shown);
    tab.webviewPanel.dispose();
    sideBar.reveal();
    if (draft !== undefined) sideBar.giveDraft(draft);
  }

  #moveToTab(sideBar: ChatPanel): void {
    const draft = sideBar.takeDraft();
    this.#open(vscode.ViewColumn.Active, (panel) => {
      this.#sessions.moveToTab(panel);
      void draft.then((taken) => taken && panel.giveDraft(taken));
    });
  }

  /** A tab of the last window. */
  async deserializeWebviewPanel(webviewPanel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const panel = this.#serve(webviewPanel);
    this.#sessions.restoreTab(panel, KeptState.safeParse(state).data?.sessionId);
  }

  /** `fill` gives the tab its session. */
  #open(column: vscode.ViewColumn, fill: (panel: ChatPanel) => void): void {
    const panel = this.#serve(vscode.window.createWebviewPanel(SESSION_TAB, UNTITLED, column));
    fill(panel);
    this.#parts.panels.active = panel;
  }

  #serve(webviewPanel: vscode.WebviewPanel): ChatPanel {
    const { panels } = this.#parts;
    const panel = panels.add("tab", () => webviewPanel.reveal());
    const tab = { panel, webviewPanel };
    this.#tabs.add(tab);
    const page = servePage(webviewPanel.webview, panel, this.#parts);
    // VS Code discards a hidden page. The page sends `ready` when it is shown again.
    webviewPanel.onDidChangeViewState(() => !webviewPanel.visible && panel.detach());
    webviewPanel.onDidDispose(() => {
      this.#tabs.delete(tab);
      this.#sessions.closeTab(panel);
      page.dispose();
    });
    return panel;
  }

  #showStates(): void {
    for (const { panel, webviewPanel } of this.#tabs) {
      const { shown } = panel;
      const state = this.#sessions.stateOf(shown);
      webviewPanel.title = titleOf(shown, state);
      webviewPanel.iconPath = new vscode.ThemeIcon(ICONS[state ?? "idle"]);
    }
  }
}

const UNTITLED = "Hermes";

/** Longest title of a tab. Characters. */
const TITLE_CHARS = 40;

const ICONS = { idle: "sparkle", working: "loading~spin", asks: "bell-dot", done: "pass" } as const;

/** A screen reader reads the state from the title. */
const STATES: Readonly<Record<SessionActivity, string>> = {
  working: vscode.l10n.t("working"),
  asks: vscode.l10n.t("asks"),
  done: vscode.l10n.t("done"),
};

function titleOf({ title = UNTITLED }: ChatSession, state: SessionActivity | undefined): string {
  const short = truncate(title, TITLE_CHARS);
  return state === undefined ? short : `${short} (${STATES[state]})`;
}
