/** What the panel may say, checked before anything is done with it. */
import * as z from "zod";
import type { PanelMessage } from "../../webview/panel-protocol.ts";

/** A prompt beyond this is refused by the panel's channel. Characters. */
const MAX_TEXT_CHARS = 10_000_000;

const text = z.string().max(MAX_TEXT_CHARS);
const id = z.string().max(200);
/** The id of a choice holds the name of a model. */
const choice = z.string().max(300);
const path = z.string().max(4_096);

const schema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready"), epoch: id, next: z.int().min(0) }),
  z.object({ type: z.literal("ack"), epoch: id, next: z.int().min(0) }),
  z.object({ type: z.literal("command-done"), id }),
  z.object({ type: z.literal("prompt"), text, now: z.literal(true).exactOptional() }),
  z.object({ type: z.literal("cancel") }),
  z.object({ type: z.literal("resend"), position: z.int().min(0), text }),
  z.object({ type: z.literal("fork-here"), position: z.int().min(0), text }),
  z.object({ type: z.literal("restore-preview"), position: z.int().min(0) }),
  z.object({ type: z.literal("restore-close") }),
  z.object({ type: z.literal("restore-changes"), position: z.int().min(0) }),
  z.object({
    type: z.literal("restore"),
    position: z.int().min(0),
    files: z.boolean(),
    conversation: z.boolean(),
  }),
  z.object({ type: z.literal("restore-undo"), restoreId: id }),
  z.object({ type: z.literal("earlier"), before: z.int().min(0), all: z.literal(true).exactOptional() }),
  z.object({ type: z.literal("new-session") }),
  z.object({ type: z.literal("set-config"), configId: id, value: choice }),
  z.object({ type: z.literal("use-model"), choice }),
  z.object({ type: z.literal("choose-model") }),
  z.object({ type: z.literal("set-key"), provider: id.exactOptional() }),
  z.object({ type: z.literal("open-setup") }),
  z.object({ type: z.literal("permission"), requestId: id, optionId: id, reason: text.exactOptional() }),
  z.object({ type: z.literal("answer"), requestId: id, text: text.nullable() }),
  z.object({ type: z.literal("queue-remove"), id }),
  z.object({ type: z.literal("queue-hold"), id }),
  z.object({ type: z.literal("queue-edit"), id, text }),
  z.object({ type: z.literal("queue-move"), id, to: z.int().min(0) }),
  z.object({ type: z.literal("queue-send"), id }),
  z.object({ type: z.literal("queue-interrupt"), id }),
  z.object({ type: z.literal("process-input"), id, text }),
  z.object({ type: z.literal("process-stop"), id }),
  z.object({ type: z.literal("manage-trust") }),
  z.object({ type: z.literal("history-close") }),
  z.object({ type: z.literal("history-search"), query: z.string().max(1_000), everywhere: z.boolean() }),
  z.object({ type: z.literal("history-more") }),
  z.object({ type: z.literal("session-open"), sessionId: id }),
  z.object({ type: z.literal("session-rename"), sessionId: id, title: z.string().max(300) }),
  z.object({ type: z.literal("session-delete"), sessionId: id }),
  z.object({ type: z.literal("session-export"), sessionId: id }),
  z.object({ type: z.literal("session-fork"), sessionId: id }),
  z.object({ type: z.literal("open-location"), path, line: z.int().min(1).exactOptional() }),
  z.object({ type: z.literal("open-review"), path }),
  z.object({ type: z.literal("show-terminal"), terminalId: id }),
  z.object({ type: z.literal("keep-file"), path }),
  z.object({ type: z.literal("undo-file"), path }),
  z.object({ type: z.literal("keep-all") }),
  z.object({ type: z.literal("undo-all") }),
  z.object({ type: z.literal("open-link"), href: z.string().max(4_096) }),
  z.object({ type: z.literal("insert-text"), text }),
]) satisfies z.ZodType<PanelMessage>;

/** Undefined when it is nothing the panel may say. */
export function parsePanelMessage(raw: unknown): PanelMessage | undefined {
  return schema.safeParse(raw).data;
}
