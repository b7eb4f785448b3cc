/** Messages of the panel about sub-agents: stop, steer, and the conversation of the sub-agent that is shown. */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { messageOf } from "../../../agent-core/platform/errors.ts";
import { delegationMethods } from "../../../agent-core/protocol/delegation.ts";
import { call } from "../../../agent-core/protocol/method.ts";
import type { PanelEvent } from "../../../agent-core/protocol/panel-events.ts";
import type { HermesEarlierPage } from "../../../agent-core/protocol/sessions.ts";
import type { AgentWorker } from "../../agent/agent-worker.ts";
import { withErrorMessage } from "../../notifications.ts";
import type { Services } from "../../services.ts";
import { earlierEvent } from "../earlier-messages.ts";
import type { PanelActions } from "../panel-page.ts";
import type { ChatPanel } from "../panels.ts";

export function taskActions({ worker }: Pick<Services, "worker">, panel: ChatPanel) {
  const conversation = new TaskConversation(worker, panel);
  return {
    "task-stop": ({ callId, taskId }) =>
      withErrorMessage(vscode.l10n.t("The task cannot be stopped"), async () => {
        await call(await worker.agent(), delegationMethods.stop, { sessionId: panel.openSessionId, callId, taskId });
      }),
    "task-steer": ({ type: _, ...steering }) =>
      withErrorMessage(vscode.l10n.t("The message cannot be sent to the task"), async () => {
        const steered = { sessionId: panel.openSessionId, ...steering };
        await call(await worker.agent(), delegationMethods.steer, steered);
      }),
    "task-open": ({ child }) => conversation.open(child),
    "task-refresh": ({ child }) => conversation.refresh(child),
    "task-earlier": ({ child, before }) => conversation.earlier(child, before),
  } satisfies Partial<PanelActions>;
}

/** Minimum time between two refreshes, because each reads a page of the sub-agent's journal. Milliseconds. */
const REFRESH_MS = 1_000;

/** The one conversation that the panel shows. A replay gives a message the same update each time. */
type Shown = {
  readonly child: string;
  /** Updates that the panel has, as JSON. */
  readonly sent: Set<string>;
  isRefreshing: boolean;
  wantsRefresh: boolean;
};

class TaskConversation {
  readonly #worker: AgentWorker;
  /** It shows the session of the sub-agent's parent. */
  readonly #panel: ChatPanel;
  #shown: Shown | undefined;

  constructor(worker: AgentWorker, panel: ChatPanel) {
    this.#worker = worker;
    this.#panel = panel;
  }

  /** Sends the end of the conversation. */
  async open(child: string): Promise<void> {
    const shown: Shown = { child, sent: new Set(), isRefreshing: true, wantsRefresh: false };
    this.#shown = shown;
    await this.#sendNew(shown, true);
    this.#pause(shown);
  }

  /** Sends what the panel does not have, at once or after the pause since the last refresh. */
  async refresh(child: string): Promise<void> {
    const shown = this.#shown;
    if (shown?.child !== child) return;
    if (shown.isRefreshing) {
      shown.wantsRefresh = true;
      return;
    }
    shown.isRefreshing = true;
    shown.wantsRefresh = false;
    await this.#sendNew(shown, false);
    this.#pause(shown);
  }

  async earlier(child: string, before: number): Promise<void> {
    const shown = this.#shown;
    if (shown?.child !== child) return;
    const event = await earlierEvent(before, () => this.#page(child, before));
    if (shown === this.#shown) this.#post(shown, [event], false);
  }

  #pause(shown: Shown): void {
    setTimeout(() => {
      shown.isRefreshing = false;
      if (shown.wantsRefresh) void this.refresh(shown.child);
    }, REFRESH_MS);
  }

  /** Never rejects: the panel shows the reason of a failure. */
  async #sendNew(shown: Shown, reset: boolean): Promise<void> {
    try {
      const { updates, earlier } = await this.#page(shown.child);
      if (shown !== this.#shown) return;
      const marks =
        reset && earlier !== null
          ? [{ sessionUpdate: "session_info_update" as const, _meta: { hermes: { earlier } } }]
          : [];
      const events = [...marks, ...newUpdates(updates, shown.sent)].map(
        (update): PanelEvent => ({ kind: "update", update }),
      );
      if (reset || events.length > 0) this.#post(shown, events, reset);
    } catch (error) {
      const text = vscode.l10n.t("The conversation cannot be read. {0}", messageOf(error));
      if (shown === this.#shown) this.#post(shown, [{ kind: "notice", severity: "error", text }], reset);
    }
  }

  async #page(child: string, before?: number): Promise<HermesEarlierPage> {
    const { sessionId } = this.#panel.shown;
    if (sessionId === undefined) throw new Error(vscode.l10n.t("The session is not open."));
    const page = { sessionId, child, ...(before !== undefined && { before }) };
    return call(await this.#worker.agent(), delegationMethods.transcript, page);
  }

  #post({ child }: Shown, events: readonly PanelEvent[], reset: boolean): void {
    this.#panel.post({ type: "task-events", child, reset, events });
  }
}

/** The updates that are not in `sent`, which then has them. */
function newUpdates(updates: readonly SessionUpdate[], sent: Set<string>): readonly SessionUpdate[] {
  return updates.filter((update) => {
    const text = JSON.stringify(update);
    if (sent.has(text)) return false;
    sent.add(text);
    return true;
  });
}
