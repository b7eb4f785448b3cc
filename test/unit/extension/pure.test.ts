import { expect, test } from "vitest";
import type { EventsMessage, PanelEvent } from "../../../agent-core/protocol/panel-events.ts";
import { EventLog } from "../../../extension/chat/event-log.ts";
import { minimalEdit } from "../../../extension/documents/guarded-edit.ts";
import { OutputRing } from "../../../extension/terminals/output-ring.ts";

let seed = 3;
const random = (limit: number): number => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed % limit;
};

test("a minimal edit turns one text into the other and never cuts a pair in two", () => {
  for (let round = 0; round < 3_000; round += 1) {
    const pieces = ["a", "b", "\r\n", "\n", "😀", "é"];
    const make = (): string => Array.from({ length: random(12) }, () => pieces[random(6)]).join("");
    const [before, after] = [make(), make()];
    const edit = minimalEdit(before, after);
    if (edit === undefined) expect(before).toBe(after);
    else {
      expect(before.slice(0, edit.start) + edit.text + before.slice(edit.end)).toBe(after);
      expect(before.slice(edit.start - 1, edit.start + 1)).not.toBe("\r\n");
    }
  }
});

test("the output ring keeps the end, at a whole character", () => {
  const ring = new OutputRing(5);
  for (const byte of Buffer.from("abc€uro")) ring.add(Buffer.from([byte]));
  expect(ring.text()).toBe("uro");
  expect(ring.truncated).toBe(true);
});

const delta = (text: string): PanelEvent => ({
  kind: "update",
  update: { sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text } },
});
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("the panel's channel: numbered, merged while unsent, and sent again after a gap", async () => {
  const log = new EventLog();
  const sent: EventsMessage[] = [];
  log.push(delta("a"));
  log.push(delta("b"));
  log.attach((message) => sent.push(message), "", 0);
  expect(sent).toMatchObject([{ first: 0, reset: true, events: [{ update: { content: { text: "ab" } } }] }]);
  log.push(delta("c"));
  log.push({ kind: "turn-end", stopReason: "end_turn" });
  await settled();
  expect(sent[1]).toMatchObject({
    first: 1,
    reset: false,
    events: [{ update: { content: { text: "c" } } }, { kind: "turn-end" }],
  });
  log.attach((message) => sent.push(message), sent[0]?.epoch ?? "", 1);
  log.push(delta("d"));
  await settled();
  expect(sent.at(-1)).toMatchObject({ reset: false });
  const [first = ""] = [sent[0]?.epoch];
  log.clear();
  log.attach((message) => sent.push(message), first, 3);
  expect(sent.at(-1)).toMatchObject({ first: 0, reset: true, events: [] });
});
