/** What the headless chat prints: the answer on stdout, everything else on stderr; or every update as JSON. */
import type { SessionNotification, SessionUpdate } from "@zed-industries/agent-client-protocol";

export type UpdatePrinter = {
  update(notification: SessionNotification): void;
  /** A call that would have asked. */
  refused(title: string): void;
  /** The turn is over. */
  end(): void;
};

export function updatePrinter(json: boolean): UpdatePrinter {
  const titles = new Map<string, string>();
  let printed = false;
  return {
    update(notification) {
      if (json) {
        process.stdout.write(`${JSON.stringify(notification)}\n`);
        return;
      }
      const { update } = notification;
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") {
        printed = true;
        process.stdout.write(update.content.text);
        return;
      }
      const line = lineOf(update, titles);
      if (line !== undefined) process.stderr.write(`${line}\n`);
    },
    refused(title) {
      process.stderr.write(`✗ ${title}: it asks for approval, and nobody is here to give it (see --yes)\n`);
    },
    end() {
      if (printed) process.stdout.write("\n");
    },
  };
}

function lineOf(update: SessionUpdate, titles: Map<string, string>): string | undefined {
  if (update.sessionUpdate === "notice") return `! ${update.title}`;
  if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update") return undefined;
  const title = update.title ?? titles.get(update.toolCallId) ?? update.toolCallId;
  titles.set(update.toolCallId, title);
  if (update.status === "completed") return `✓ ${title}`;
  return update.status === "failed" ? `✗ ${title}` : undefined;
}
