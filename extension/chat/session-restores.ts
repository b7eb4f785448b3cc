/** Restores of a panel's session: previewed in the panel and the editor, carried out by the agent. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import type { PanelEvent, RestoreFile } from "../../agent-core/protocol/panel-events.ts";
import {
  type HermesRestored,
  type HermesRestoredFile,
  type HermesRestorePreview,
  restoreMethods,
} from "../../agent-core/protocol/restores.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { CheckpointDocuments } from "../review/read-only-documents.ts";
import type { EventLog } from "./event-log.ts";
import type { ChatPanel } from "./panels.ts";

type RestoredEvent = Extract<PanelEvent, { kind: "restored" }>;
type Parts = { readonly files: boolean; readonly conversation: boolean };

export class SessionRestores {
  readonly #worker: AgentWorker;
  readonly #panel: ChatPanel;
  readonly #documents: CheckpointDocuments;
  /** Text that each restore of the conversation put into the composer, by the restore's id; null for none. */
  readonly #rewinds = new Map<string | undefined, string | null>();
  /** The preview in a session, also while it is made. */
  #shown: { readonly log: EventLog; readonly position: number } | undefined;

  constructor(worker: AgentWorker, panel: ChatPanel, documents: CheckpointDocuments) {
    this.#worker = worker;
    this.#panel = panel;
    this.#documents = documents;
  }

  /** Previews a restore to the state before the message at this position, unless it is closed meanwhile. */
  async preview(position: number, forResend = false): Promise<void> {
    const { log } = this.#panel.shown;
    const shown = { log, position };
    this.#shown = shown;
    const { files, limits, messages } = await this.#preview(position, false);
    if (this.#shown !== shown) return;
    const preview = { files: files.map(fileOf), messages, forResend, ...(limits && { limits }) };
    log.push({ kind: "restore-preview", position, preview });
  }

  close(): void {
    if (this.#shown === undefined) return;
    const { log, position } = this.#shown;
    log.push({ kind: "restore-preview", position, preview: null });
    this.#shown = undefined;
  }

  /** Opens a diff of each file: its present text and the restored one. */
  async showChanges(position: number): Promise<void> {
    const { files } = await this.#preview(position, true);
    const changes = files.filter((file) => file.leftAlone === undefined && file.text !== undefined);
    if (changes.length === 0) throw new Error(vscode.l10n.t("no text of a file would change"));
    await this.#documents.show(
      vscode.l10n.t("Restore"),
      changes.map(({ path, text = null, change }) => ({ path, text, isThere: change !== "recreate" })),
    );
  }

  async restore(position: number, parts: Parts): Promise<void> {
    const { log } = this.#panel.shown;
    const restored = await this.#restore(position, parts);
    this.close();
    if (parts.conversation) this.#rewinds.set(restored.restoreId, restored.prompt);
    log.push(restoredEvent(restored, { isUndo: false, hasConversation: parts.conversation }));
  }

  /** Restores the files before a message is sent again; resolves to the event that shows the result. */
  async forResend(position: number): Promise<RestoredEvent> {
    const restored = await this.#restore(position, { files: true, conversation: false });
    return restoredEvent(restored, { isUndo: false, hasConversation: false });
  }

  async undo(restoreId: string): Promise<void> {
    const sessionId = this.#panel.openSessionId;
    const { log } = this.#panel.shown;
    const agent = await this.#worker.agent();
    const undone = await call(agent, restoreMethods.undo, { sessionId, restoreId });
    const prompt = this.#rewinds.get(restoreId);
    const hasConversation = this.#rewinds.delete(restoreId);
    if (hasConversation) this.#rewinds.set(undone.restoreId, prompt ?? null);
    // The restore put this text into the composer.
    if (typeof prompt === "string") this.#panel.command({ kind: "withdraw", text: prompt });
    log.push(restoredEvent(undone, { isUndo: true, hasConversation }));
  }

  async #restore(position: number, parts: Parts): Promise<HermesRestored> {
    const sessionId = this.#panel.openSessionId;
    return call(await this.#worker.agent(), restoreMethods.restore, { sessionId, position, ...parts });
  }

  async #preview(position: number, withTexts: boolean): Promise<HermesRestorePreview> {
    const sessionId = this.#panel.openSessionId;
    const agent = await this.#worker.agent();
    return call(agent, restoreMethods.preview, { sessionId, position, withTexts });
  }
}

function restoredEvent(
  { files, limits, restoreId }: HermesRestored,
  kind: { readonly isUndo: boolean; readonly hasConversation: boolean },
): RestoredEvent {
  const known = { ...(limits && { limits }), ...(restoreId !== undefined && { restoreId }) };
  return { kind: "restored", files: files.map(fileOf), ...kind, ...known };
}

function fileOf({ text: _, ...file }: HermesRestoredFile): RestoreFile {
  return { ...file, label: vscode.workspace.asRelativePath(file.path) };
}
