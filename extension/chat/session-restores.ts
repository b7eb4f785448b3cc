/** Going back in the session of the panel: asked of the agent, shown in the panel and in the editor. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import {
  type HermesRestored,
  type HermesRestoredFile,
  type HermesRestorePreview,
  restoreMethods,
} from "../../agent-core/protocol/restores.ts";
import type { RestoreFile } from "../../webview/panel-protocol.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { CheckpointDocuments } from "../review/checkpoint-documents.ts";
import type { ChatSession } from "./chat-session.ts";
import type { EventLog } from "./event-log.ts";

export class SessionRestores {
  readonly #worker: AgentWorker;
  readonly #events: EventLog;
  readonly #chat: ChatSession;
  readonly #documents: CheckpointDocuments;
  /** Position of the card that is shown. */
  #shown: number | undefined;

  constructor(worker: AgentWorker, events: EventLog, chat: ChatSession, documents: CheckpointDocuments) {
    this.#worker = worker;
    this.#events = events;
    this.#chat = chat;
    this.#documents = documents;
  }

  /** Shows what going back to before the message at this position would do. */
  async preview(position: number): Promise<void> {
    const { files, messages } = await this.#ask(position, false);
    this.#shown = position;
    this.#events.push({ kind: "restore-preview", position, preview: { files: files.map(fileOf), messages } });
  }

  close(): void {
    if (this.#shown !== undefined) {
      this.#events.push({ kind: "restore-preview", position: this.#shown, preview: null });
    }
    this.#shown = undefined;
  }

  /** Opens the present files beside what they would become. */
  async showChanges(position: number): Promise<void> {
    const { files } = await this.#ask(position, true);
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
    if (parts.files) this.#tell(restored, false);
  }

  /** Puts the files back to what they were before a restore. */
  async undo(restoreId: string): Promise<void> {
    const sessionId = this.#sessionId();
    const agent = await this.#worker.agent();
    this.#tell(await call(agent, restoreMethods.undo, { sessionId, restoreId }), true);
  }

  async #ask(position: number, withTexts: boolean): Promise<HermesRestorePreview> {
    const sessionId = this.#sessionId();
    const agent = await this.#worker.agent();
    return call(agent, restoreMethods.preview, { sessionId, position, withTexts });
  }

  #tell({ files, restoreId }: HermesRestored, isUndo: boolean): void {
    this.#events.push({
      kind: "restored",
      files: files.map(fileOf),
      isUndo,
      ...(restoreId !== undefined && { restoreId }),
    });
  }

  #sessionId(): string {
    const { sessionId } = this.#chat;
    if (sessionId === undefined) throw new Error("no session is open");
    return sessionId;
  }
}

function fileOf({ path, change, added, removed, leftAlone }: HermesRestoredFile): RestoreFile {
  return {
    path,
    label: vscode.workspace.asRelativePath(path),
    change,
    ...(added !== undefined && { added }),
    ...(removed !== undefined && { removed }),
    ...(leftAlone !== undefined && { leftAlone }),
  };
}
