import type { ToolCallContent } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";

/** State of an edit at the cursor, for people. */
export type InlineProgress = {
  /** Title of the current step. */
  readonly step: string;
  readonly answer: string;
  readonly hasEdited: boolean;
  /** Undefined while the turn runs. */
  readonly end?: Extract<PanelEvent, { kind: "turn-end" }>;
};

export const STARTING: InlineProgress = { step: vscode.l10n.t("starting"), answer: "", hasEdited: false };

/** Progress after an event of the session. */
export function inlineProgress(before: InlineProgress, event: PanelEvent): InlineProgress {
  if (event.kind === "turn-end") return { ...before, end: event };
  if (event.kind !== "update") return before;
  const { update } = event;
  switch (update.sessionUpdate) {
    case "agent_thought_chunk":
      return { ...before, step: vscode.l10n.t("thinking") };
    case "agent_message_chunk": {
      const text = update.content.type === "text" ? update.content.text : "";
      return { ...before, step: vscode.l10n.t("answering"), answer: before.answer + text };
    }
    case "tool_call":
    case "tool_call_update": {
      // The answer is the text after the last call.
      const hasEdited = before.hasEdited || (update.content ?? []).some(isDiff);
      return { ...before, step: update.title ?? before.step, answer: "", hasEdited };
    }
    default:
      return before;
  }
}

function isDiff({ type }: ToolCallContent): boolean {
  return type === "diff";
}
