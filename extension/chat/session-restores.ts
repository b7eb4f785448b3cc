/** Restores of the session shown: previewed in the panel and the editor, carried out by the agent. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import type { RestoreFile } from "../../agent-core/protocol/panel-events.ts";
import {
  type HermesRestored,
  type HermesRestoredFile,
  type HermesRestorePreview,
  restoreMethods,
} from "../../agent-core/protocol/restores.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { CheckpointDocuments } from "../review/earlier-texts.ts";
import type { Sessions } from "./sessions.ts";

export class SessionRestores {
  readonly #worker: AgentWorker;
  readonly #sessions: Sessions;
  readonly #documents: CheckpointDocuments;
  /** First message that each restore took back or returned, by the restore's id. */
  readonly #rewinds = new Map<string | undefined, string | null>();
  readonly #withdraw: (text: string) => void;
  /** Position of the preview in the panel. */
  #shown: number | undefined;

  /** `withdraw` removes a text from the composer that a restore has put there. */
  constructor(
    worker: AgentWorker,
    sessions: Sessions,
    documents: CheckpointDocuments,
    withdraw: (text: string) => void,
  ) {
    this.#withdraw = withdraw;
    this.#worker = worker;
    this.#sessions = sessions;
    this.#documents = documents;
  }

  /** Previews a restore to the state before the message at this position. */
  async preview(position: number): Promise<void> {
    const { files, messages } = await this.#preview(position, false);
    this.#shown = position;
    this.#sessions.shown.log.push({
      kind: "restore-preview",
      position,
      preview: { files: files.map(fileOf), messages },
    });
  }

  close(): void {
    if (this.#shown !== undefined) {
      this.#sessions.shown.log.push({ kind: "restore-preview", position: this.#shown, preview: null });
    }
    this.#shown = undefined;
  }

  /** Opens a diff of each file: its present text and the restored one. */
  async showChanges(position: number): Promise<void> {
    const { files } = await this.#preview(position, true);
    const changes = files.filter((file) => file.leftAlone === undefined && file.text !== undefined);
    if (changes.length === 0) throw new Error("no text of a file would change");
    await this.#documents.show(
      "Restore",
      changes.map(({ path, text = null, change }) => ({ path, text, isThere: change !== "recreate" })),
    );
  }

  async restore(position: number, parts: { readonly files: boolean; readonly conversation: boolean }): Promise<void> {
    const sessionId = this.#sessionId();
    const agent = await this.#worker.agent();
    const restored = await call(agent, restoreMethods.restore, { sessionId, position, ...parts });
    this.close();
    if (parts.conversation) this.#rewinds.set(restored.restoreId, restored.prompt);
    this.#showResult(restored, { isUndo: false, hasConversation: parts.conversation });
  }

  /** Reverts a restore. */
  async undo(restoreId: string): Promise<void> {
    const sessionId = this.#sessionId();
    const agent = await this.#worker.agent();
    const undone = await call(agent, restoreMethods.undo, { sessionId, restoreId });
    const prompt = this.#rewinds.get(restoreId);
    const hasConversation = this.#rewinds.delete(restoreId);
    if (hasConversation) this.#rewinds.set(undone.restoreId, prompt ?? null);
    if (typeof prompt === "string") this.#withdraw(prompt);
    this.#showResult(undone, { isUndo: true, hasConversation });
  }

  async #preview(position: number, withTexts: boolean): Promise<HermesRestorePreview> {
    const sessionId = this.#sessionId();
    const agent = await this.#worker.agent();
    return call(agent, restoreMethods.preview, { sessionId, position, withTexts });
  }

  #showResult(
    { files, restoreId }: HermesRestored,
    kind: { readonly isUndo: boolean; readonly hasConversation: boolean },
  ): void {
    this.#sessions.shown.log.push({
      kind: "restored",
      files: files.map(fileOf),
      ...kind,
      ...(restoreId !== undefined && { restoreId }),
    });
  }

  #sessionId(): string {
    const { sessionId } = this.#sessions.shown;
    if (sessionId === undefined) throw new Error("no session is open");
    return sessionId;
  }
}

function fileOf({ text: _, ...file }: HermesRestoredFile): RestoreFile {
  return { ...file, label: vscode.workspace.asRelativePath(file.path) };
}
