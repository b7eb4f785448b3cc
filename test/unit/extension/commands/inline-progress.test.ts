import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import type { PanelEvent } from "../../../../agent-core/protocol/panel-events.ts";
import { inlineProgress, STARTING } from "../../../../extension/commands/inline-edits.ts";

const update = (record: SessionUpdate): PanelEvent => ({ kind: "update", update: record });
const text = (said: string) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: said } });

const after = (...events: readonly PanelEvent[]) => events.reduce(inlineProgress, STARTING);

test("the progress shows the current step of an edit at the cursor", () => {
  const call = update({ sessionUpdate: "tool_call", toolCallId: "1", title: "read_file: menu.ts" });
  expect(after(call).step).toBe("read_file: menu.ts");
  expect(after(call, update({ sessionUpdate: "tool_call_update", toolCallId: "1", status: "completed" })).step).toBe(
    "read_file: menu.ts",
  );
  expect(after(call, text("Done")).step).toBe("answering");
});

test("the progress knows an edit by its diff, and keeps the words after the last call as the answer", () => {
  const edit = update({
    sessionUpdate: "tool_call_update",
    toolCallId: "1",
    status: "completed",
    content: [{ type: "diff", path: "/menu.ts", oldText: "a", newText: "b" }],
  });
  const progress = after(text("I look. "), edit, text("The menu "), text("closes."), {
    kind: "turn-end",
    stopReason: "end_turn",
  });
  expect(progress).toMatchObject({ answer: "The menu closes.", hasEdited: true, end: { stopReason: "end_turn" } });
  expect(after(text("It is a menu.")).hasEdited).toBe(false);
});
