import { expect, test } from "vitest";
import type { PanelEvent, PanelProcess } from "../../../webview/panel-protocol.ts";
import { lastLine } from "../../../webview/state/processes.ts";
import { reduce } from "../../../webview/state/reduce.ts";
import { emptyState, type PanelState } from "../../../webview/state/state.ts";
import { appendText, emptyText } from "../../../webview/state/streamed-text.ts";
import { formatDuration } from "../../../webview/views/words.ts";

const server: PanelProcess = { id: "p1", command: "npm run dev", startedAt: 0, state: "running" };
const play = (...events: readonly PanelEvent[]): PanelState =>
  events.reduce((state, event) => reduce(state, event, 0), emptyState);
const processes = (...all: readonly PanelProcess[]): PanelEvent => ({ kind: "processes", processes: all });

test("the list is the agent's own, and another session's is forgotten", () => {
  expect(play(processes(server)).processes).toEqual([server]);
  const session = { sessionId: "s", cwd: "/", agentName: "Hermes", configOptions: [], commands: [] };
  expect(play(processes(server), { kind: "session", ...session }).processes).toEqual([]);
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

test("hours are said as hours", () => {
  expect(formatDuration(2 * 3_600_000 + 5 * 60_000)).toBe("2 h 5 min");
});
