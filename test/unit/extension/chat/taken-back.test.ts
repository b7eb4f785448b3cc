import { expect, test } from "vitest";
import { takenBackPrompt } from "../../../../extension/chat/taken-back.ts";

const told = (_meta: Record<string, unknown>) => takenBackPrompt({ sessionUpdate: "session_info_update", _meta });

test("what was taken back waits to be said otherwise, when the user had said it", () => {
  expect(told({ hermes: { rewound: { position: 4, prompt: "two" } } })).toBe("two");
  expect(told({ hermes: { rewound: { position: 4, prompt: null } } })).toBeUndefined();
});

test("no other update, and none of another shape, has such a message", () => {
  expect(told({ hermes: { rewound: { prompt: "two" } } })).toBeUndefined();
  expect(told({})).toBeUndefined();
  expect(takenBackPrompt({ sessionUpdate: "session_info_update", title: "t" })).toBeUndefined();
  const content = { type: "text", text: "two" } as const;
  expect(takenBackPrompt({ sessionUpdate: "user_message_chunk", content })).toBeUndefined();
});
