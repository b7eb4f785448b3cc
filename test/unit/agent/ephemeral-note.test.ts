import { expect, test } from "vitest";
import { withNote } from "../../../agent-core/agent/turn-hooks.ts";
import type { Message } from "../../../agent-core/messages/message.ts";

const user: Message = { role: "user", content: "go" };

test("the note is appended to the last message, and no stored message changes", () => {
  const tool: Message = { role: "tool", tool_call_id: "1", content: "result" };
  const history: readonly Message[] = [user, tool];
  expect(withNote(history, ["[one]", "[two]"])).toEqual([user, { ...tool, content: "result\n\n[one]\n[two]" }]);
  expect(history).toEqual([user, { role: "tool", tool_call_id: "1", content: "result" }]);
});

test("a user's text and a user's parts carry the note too", () => {
  expect(withNote([user], ["[one]"])).toEqual([{ role: "user", content: "go\n\n[one]" }]);
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } } as const;
  expect(withNote([{ role: "user", content: [image] }], ["[one]"])).toEqual([
    { role: "user", content: [image, { type: "text", text: "[one]" }] },
  ]);
});

test("without a note, or a message to carry it, the messages are the same", () => {
  const history: readonly Message[] = [user];
  expect(withNote(history, [])).toBe(history);
  expect(withNote([], ["[one]"])).toEqual([]);
});
