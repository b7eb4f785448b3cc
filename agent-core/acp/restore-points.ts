/** Restores files, the conversation or both to an earlier user message, and undoes that. */
import { RequestError, type SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { AIAgent } from "../agent/ai-agent.ts";
import type { ShownPlan } from "../checkpoints/restore-plan.ts";
import type { Message } from "../messages/message.ts";
import { defined } from "../platform/defined.ts";
import { newId } from "../platform/new-id.ts";
import type { PromptBlock } from "../protocol/conversation.ts";
import type { HermesRestored, HermesRestoredFile, HermesRestorePreview } from "../protocol/restores.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import { infoUpdate, userAttachments, userText } from "./conversation-updates.ts";
import { replayMessages } from "./replay.ts";

/** A user message as the target of a restore. */
export type RestorePoint = {
  readonly position: number;
  /** Words of the message, else the names of its attachments. */
  readonly prompt: string;
  /** Number of files that changed since. */
  readonly changedFiles: number;
};

export type RestoreParts = { readonly files: boolean; readonly conversation: boolean };

export type RestorePointsOptions = {
  readonly agent: AIAgent;
  readonly send: (update: SessionUpdate) => void;
  /** False: the session must not write files. */
  readonly trusted: () => boolean;
  /** The session as its journal has it now. */
  readonly readStored: () => Promise<StoredSession>;
};

/** Messages from `position` on that a restore took back. `isBack`: its undo has returned them. */
type Rewound = { readonly id: string; readonly position: number; readonly isBack: boolean };

export class RestorePoints {
  readonly #options: RestorePointsOptions;
  /** The last restore that took messages back, or its undo. */
  #rewound: Rewound | undefined;
  /** Id of the last restore or undo; undefined for one of an earlier process. */
  #last: string | undefined;

  constructor(options: RestorePointsOptions) {
    this.#options = options;
  }

  get #agent(): AIAgent {
    return this.#options.agent;
  }

  /** Oldest first. */
  points(): readonly RestorePoint[] {
    return this.#requests().map(({ position, message, typed }) => {
      const prompt = typed.trim() === "" ? userAttachments(message).map(attachmentName).join(", ") : typed;
      return {
        position,
        prompt,
        changedFiles: this.#agent.checkpoints?.countSince(this.#agent.session.conversation.originOf(position)) ?? 0,
      };
    });
  }

  /** Messages of the user that began a turn. A message that steers a turn is part of that turn. */
  #requests(): readonly { readonly position: number; readonly message: Message; readonly typed: string }[] {
    const { transcript } = this.#agent;
    return transcript.flatMap(({ position, role, message }, index) => {
      const typed = role === "user" && transcript[index - 1]?.role !== "tool" ? userText(message) : null;
      return typed === null ? [] : [{ position, message, typed }];
    });
  }

  /** Effects of a restore to the message at `position`. `withTexts` adds the future text of each file. */
  async preview(position: number, withTexts: boolean, signal: AbortSignal): Promise<HermesRestorePreview> {
    const { checkpoints } = this.#agent;
    const planned =
      (await checkpoints?.preview(this.#agent.session.conversation.originOf(position), withTexts, signal)) ?? [];
    return {
      files: planned.map(fileOf),
      ...this.#limits(position, planned.length === 0),
      messages: this.#requests().filter((request) => request.position >= position).length,
      prompt: this.#promptAt(position),
    };
  }

  /** Removes the messages from this position on, and notifies the client. Throws during a turn. */
  rewindTo(position: number, isRetry = false): void {
    const attachments = userAttachments(this.#messageAt(position));
    const rewound = { position, prompt: this.#promptAt(position), ...(attachments.length > 0 && { attachments }) };
    this.#agent.rewind(position, isRetry);
    this.#options.send(infoUpdate({ rewound }));
  }

  /** Restores files first: if that fails, the conversation still describes them. */
  async restore(position: number, parts: RestoreParts, signal: AbortSignal): Promise<HermesRestored> {
    const prompt = this.#promptAt(position);
    const { checkpoints } = this.#agent;
    if (parts.files) this.#checkTrust();
    const restored = parts.files
      ? await checkpoints?.restore(this.#agent.session.conversation.originOf(position), signal)
      : undefined;
    const limits = restored && this.#limits(position, restored.files.length === 0);
    const hasChanged = restored?.files.some(({ leftAlone }) => leftAlone === undefined) ?? false;
    const restoreId = restored?.id ?? newId();
    if (parts.conversation) {
      this.rewindTo(position);
      this.#rewound = { id: restoreId, position, isBack: false };
    }
    const isUndoable = hasChanged || parts.conversation;
    if (isUndoable) this.#last = restoreId;
    return {
      files: (restored?.files ?? []).map(fileOf),
      ...limits,
      prompt: parts.conversation ? prompt : null,
      ...(isUndoable && { restoreId }),
    };
  }

  /** Undoes a restore; default: the last one. Its messages return unless newer messages follow. Undefined when there was none. */
  async undo(id: string | undefined, signal: AbortSignal): Promise<HermesRestored | undefined> {
    const { checkpoints } = this.#agent;
    const restore = id ?? this.#last ?? checkpoints?.lastRestore;
    if (restore === undefined) return undefined;
    const rewound = this.#rewound?.id === restore ? this.#rewound : undefined;
    if (checkpoints === undefined && rewound === undefined) return undefined;
    this.#checkTrust();
    const undone = await checkpoints?.undo(restore, signal);
    const undoId = undone?.id ?? newId();
    if (rewound !== undefined) await this.#moveConversation(rewound, undoId);
    this.#last = undoId;
    return { files: (undone?.files ?? []).map(fileOf), prompt: null, restoreId: undoId };
  }

  /** Returns the messages of a restore, or removes them again. The client gets them as a replay. */
  async #moveConversation({ position, isBack }: Rewound, undoId: string): Promise<void> {
    this.#rewound = undefined;
    if (isBack) this.rewindTo(position);
    else {
      const first = this.#agent.unrewind();
      if (first === undefined) return;
      const stored = await this.#options.readStored();
      const returned = stored.conversation.transcript.filter((one) => one.position >= first);
      for (const update of replayMessages(returned, stored)) this.#options.send(update);
    }
    this.#rewound = { id: undoId, position, isBack: !isBack };
  }

  #limits(position: number, isEmpty: boolean): Pick<HermesRestored, "limits"> {
    const limits =
      this.#agent.checkpoints?.limitsSince(this.#agent.session.conversation.originOf(position), isEmpty) ?? [];
    return limits.length === 0 ? {} : { limits };
  }

  #checkTrust(): void {
    if (!this.#options.trusted()) throw new RequestError(-32600, "Nothing is written until you trust this workspace.");
  }

  #promptAt(position: number): string | null {
    return userText(this.#messageAt(position));
  }

  #messageAt(position: number): Message | undefined {
    return this.#agent.transcript.find((candidate) => candidate.position === position)?.message;
  }
}

function fileOf({ path, change, added, removed, leftAlone, text }: ShownPlan): HermesRestoredFile {
  return { path, change, ...defined({ added, removed, leftAlone, text }) };
}

function attachmentName(block: PromptBlock): string {
  switch (block.type) {
    case "resource_link":
      return block.name;
    case "resource":
      return block.resource.uri.replace(/^.*\//, "");
    default:
      return "a picture";
  }
}
