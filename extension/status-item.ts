/** Status bar item with the agent's activity and model, and the requests that wait for the user: number, notification. */
import * as vscode from "vscode";
import { truncate } from "../agent-core/platform/one-line.ts";
import type { HermesSandbox } from "../agent-core/protocol/sessions.ts";
import type { Sessions } from "./chat/sessions.ts";
import { showWarning } from "./notifications.ts";
import type { NoticeButton, RequestNotice } from "./requests/requests.ts";

/** Maximum length of the model's name, in characters, to leave room for other items. */
const NAME_CHARS = 24;

/** Key of the memory and of the context: a model has been set up. */
const SET_UP_KEY = "hermes.isSetUp";

/** Id of the built-in interpreter. */
const OFFLINE = "offline";

export class StatusItem implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("hermes.status", vscode.StatusBarAlignment.Right, 100);
  #isRunning: boolean = false;
  #waitingCount = 0;
  /** Undefined until the session has reported it. */
  #model: string | undefined;
  #sandbox: HermesSandbox = null;
  readonly #memory: vscode.Memento;

  /** `memory`: of all windows. */
  constructor(memory: vscode.Memento) {
    this.#memory = memory;
    if (this.#isSetUp) this.#completeSetUp();
    this.#item.name = "Hermes";
    this.#item.command = "hermes.focusChat";
    this.#render();
    this.#item.show();
  }

  /**
   * Shows the activity and the model of the shown session, until the result is disposed. `hasChosen`: the user has chosen
   * a model, which may be the offline one.
   */
  follow(sessions: Sessions, hasChosen: () => boolean): vscode.Disposable {
    return sessions.onDidChange(() => {
      const { isRunning } = sessions.shown;
      this.#isRunning = isRunning;
      const model = sessions.shown.option("model");
      if (model !== undefined && !this.#isSetUp && (model.currentValue !== OFFLINE || hasChosen())) {
        // A window that cannot store it offers the set-up again.
        void this.#memory.update(SET_UP_KEY, true).then(undefined, () => undefined);
        this.#completeSetUp();
      }
      this.#model = model?.currentName;
      this.#render();
    });
  }

  waiting(count: number): void {
    this.#waitingCount = count;
    this.#render();
  }

  /** Shows the sandbox of the session opened last. */
  sandbox(sandbox: HermesSandbox): void {
    this.#sandbox = sandbox;
    this.#render();
  }

  dispose(): void {
    this.#item.dispose();
  }

  /** True once any window has had a model. */
  get #isSetUp(): boolean {
    return this.#memory.get(SET_UP_KEY, false);
  }

  /** Ticks off the step of the walkthrough. */
  #completeSetUp(): void {
    vscode.commands.executeCommand("setContext", SET_UP_KEY, true).then(undefined, () => undefined); // only a tick
  }

  #activity(): string {
    const model = this.#model;
    if (this.#isRunning) {
      return model === undefined
        ? vscode.l10n.t("Hermes is working")
        : vscode.l10n.t("Hermes is working with {0}", model);
    }
    if (!this.#isSetUp) return vscode.l10n.t("Set up a model for Hermes, a coding agent");
    return model === undefined ? vscode.l10n.t("Hermes is ready") : vscode.l10n.t("Hermes is ready with {0}", model);
  }

  #render(): void {
    const isAsking = this.#waitingCount > 0;
    const running = this.#isRunning;
    const runningIcon = running ? "$(loading~spin)" : "$(sparkle)";
    const short = this.#model?.replace(/ \(.*\)$/, ""); // the tooltip shows all of it
    const model = short === undefined ? "" : ` · ${truncate(short, NAME_CHARS)}`;
    const name = this.#isSetUp ? `Hermes${model}` : vscode.l10n.t("Set Up Hermes");
    this.#item.text = isAsking ? `$(bell-dot) ${vscode.l10n.t("Hermes asks")}` : `${runningIcon} ${name}`;
    this.#item.backgroundColor = isAsking ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    const activity = isAsking ? vscode.l10n.t("Hermes is waiting for your answer") : this.#activity();
    this.#item.tooltip = [activity, ...sandboxLines(this.#sandbox)].join("\n");
    this.#item.accessibilityInformation = { label: activity };
  }
}

function sandboxLines(sandbox: HermesSandbox): readonly string[] {
  if (sandbox === null) return [];
  const { text, advice } = sandbox;
  return [
    vscode.l10n.t("Sandbox {0}.", text),
    ...(advice === undefined ? [] : [vscode.l10n.t("To enable it, {0}.", advice)]),
  ];
}

/** `waiting`: requests and edits that wait for the user. `ended`: planned jobs that ended while no panel was visible. */
export type Attention = { readonly waiting: number; readonly ended: number };

/** Counts everything that needs the user's attention. */
export class AttentionCounter implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<Attention>();
  #counts = { requests: 0, edits: 0, ended: 0 };

  readonly onDidChange = this.#changed.event;

  /** `ended`: planned jobs whose end the user has not seen. */
  set(changed: Partial<{ readonly requests: number; readonly edits: number; readonly ended: number }>): void {
    this.#counts = { ...this.#counts, ...changed };
    const { requests, edits, ended } = this.#counts;
    this.#changed.fire({ waiting: requests + edits, ended });
  }

  jobEnded(): void {
    this.set({ ended: this.#counts.ended + 1 });
  }

  /** The user sees the panel. */
  jobsSeen(): void {
    if (this.#counts.ended > 0) this.set({ ended: 0 });
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

/**
 * Shows a notification, which never takes the focus. An extension cannot close one: `closed` hides it, and it stays in
 * the notification centre, where a click has no effect.
 */
export async function notifyRequest(notice: RequestNotice, closed: AbortSignal): Promise<NoticeButton | undefined> {
  const hide = (): void => {
    vscode.commands.executeCommand("notifications.hideToasts").then(undefined, () => undefined); // VS Code hides it later
  };
  closed.addEventListener("abort", hide, { once: true });
  try {
    return await showWarning<NoticeButton & vscode.MessageItem>(notice.text, ...notice.buttons);
  } finally {
    closed.removeEventListener("abort", hide);
  }
}
