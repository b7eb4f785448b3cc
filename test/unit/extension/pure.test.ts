import { expect, test } from "vitest";
import { EventLog } from "../../../extension/chat/event-log.ts";
import { minimalEdit } from "../../../extension/documents/minimal-edit.ts";
import { followTyping, hunksBetween, keepHunk, undoHunk } from "../../../extension/review/hunks.ts";
import { OutputRing } from "../../../extension/terminals/output-ring.ts";
import type { HostMessage, PanelEvent } from "../../../webview/panel-protocol.ts";

let seed = 3;
const random = (limit: number): number => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed % limit;
};
const lines = (count: number): string => Array.from({ length: count }, () => `${"abcdef"[random(6)]}\n`).join("");

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

test("keeping every hunk, in any order, gives the present text; undoing every one gives the baseline", () => {
  for (let round = 0; round < 500; round += 1) {
    const [baseline, present] = [lines(12), lines(12)];
    let [kept, undone] = [baseline, present];
    for (let hunks = hunksBetween(kept, present); hunks.length > 0; hunks = hunksBetween(kept, present)) {
      kept = keepHunk(kept, hunks[random(hunks.length)]!);
    }
    for (let hunks = hunksBetween(baseline, undone); hunks.length > 0; hunks = hunksBetween(baseline, undone)) {
      undone = undoHunk(undone, hunks[random(hunks.length)]!);
    }
    expect(kept).toBe(present);
    expect(undone).toBe(baseline);
  }
});

test("what the user types outside the agent's hunks is never counted as the agent's", () => {
  const baseline = "a\nb\nc\nd\ne\n";
  const present = "a\nB\nc\nd\ne\n";
  const typed = "top\na\nB\nc\nd\ne\nend\n";
  const moved = followTyping(baseline, present, typed);
  expect(moved).toBe("top\na\nb\nc\nd\ne\nend\n");
  expect(hunksBetween(moved, typed)).toMatchObject([{ oldLines: ["b\n"], newLines: ["B\n"], newStart: 2 }]);
});

test("what the user types inside a hunk stays part of it, and undoing it gives the old text", () => {
  const moved = followTyping("a\nb\nc\n", "a\nB\nc\n", "a\nB typed\nc\n");
  expect(moved).toBe("a\nb\nc\n");
  expect(undoHunk("a\nB typed\nc\n", hunksBetween(moved, "a\nB typed\nc\n")[0]!)).toBe("a\nb\nc\n");
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
  const sent: HostMessage[] = [];
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
