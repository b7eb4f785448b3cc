import { expect, test } from "vitest";
import type { HermesProcess } from "../../../agent-core/protocol/processes.ts";
import { reduce, type StateEvent } from "../../../webview/state/reduce.ts";
import { emptyState, type PanelState } from "../../../webview/state/state.ts";
import { appendText, emptyText } from "../../../webview/state/streamed-text.ts";
import { lastLine, processesOf } from "../../../webview/state/workspace.ts";
import { formatCount, formatDuration } from "../../../webview/views/format.ts";
import { sessionEvent } from "./support/session-event.ts";

const server: HermesProcess = { id: "p1", command: "npm run dev", startedAt: 0, state: "running" };
const play = (...events: readonly StateEvent[]): PanelState =>
  [sessionEvent("s"), ...events].reduce((state, event) => reduce(state, event, 0), emptyState);
const processes = (...all: readonly HermesProcess[]): StateEvent => ({
  type: "facts",
  facts: { ...emptyState.facts, processes: [{ sessionId: "s", processes: all }] },
});

test("the processes of the session shown are shown, and are recreated when the user returns to it", () => {
  expect(processesOf(play(processes(server)))).toEqual([server]);
  expect(processesOf(play(processes(server), sessionEvent("other")))).toEqual([]);
  expect(processesOf(play(processes(server), sessionEvent("other"), sessionEvent("s")))).toEqual([server]);
});

test("a screen reader hears once that one waits for input, and how it ended", () => {
  const begun = play(processes(server));
  expect(begun.announcement).toEqual(emptyState.announcement);
  const waits = reduce(begun, processes({ ...server, state: "waits-for-input" }), 0);
  expect(waits.announcement.text).toBe("npm run dev waits for input");
  expect(reduce(waits, processes({ ...server, state: "waits-for-input" }), 0).announcement).toBe(waits.announcement);
  const ended = reduce(waits, processes({ ...server, state: "ended", note: "exit code 1" }), 0);
  expect(ended.announcement.text).toBe("npm run dev has ended: exit code 1");
});

test("the last line is the last one that says anything", () => {
  expect(lastLine(emptyText)).toBe("");
  expect(lastLine(appendText(emptyText, "one\ntwo\n\n  \n"))).toBe("two");
  expect(lastLine(appendText(appendText(emptyText, "x".repeat(10_000)), "\nName? "))).toBe("Name? ");
});

test("rounding gives no 60 seconds, no 60 minutes and no thousand thousands", () => {
  expect([9_960, 59_700, 119_700, 3_599_700].map(formatDuration)).toEqual([
    "10 s",
    "1 min 0 s",
    "2 min 0 s",
    "1 h 0 min",
  ]);
  expect([999_499, 999_600].map(formatCount)).toEqual(["999k", "1.0M"]);
});

test("hours are said as hours", () => {
  expect(formatDuration(2 * 3_600_000 + 5 * 60_000)).toBe("2 h 5 min");
});
