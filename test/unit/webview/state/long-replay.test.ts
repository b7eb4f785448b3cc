import { expect, test } from "vitest";
import type { PanelEvent } from "../../../../agent-core/protocol/panel-events.ts";
import { reduce, reduceAll } from "../../../../webview/state/reduce.ts";
import { emptyState, type PanelState } from "../../../../webview/state/state.ts";

// A session that is read back: all of its events at once give the same state as one after the other.
const TURNS = 40;

const turn = (number: number): readonly PanelEvent[] => [
  { kind: "prompt", id: `p${number}`, text: `question ${number}` },
  update({ sessionUpdate: "session_info_update", _meta: { hermes: { position: number * 4 } } }),
  update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "I look." } }),
  update({ sessionUpdate: "tool_call", toolCallId: `t${number}`, title: "Run", status: "pending" }),
  { kind: "terminal-output", terminalId: `x${number}`, text: "one\n" },
  { kind: "terminal-output", terminalId: `x${number}`, text: "two\n" },
  { kind: "terminal-exit", terminalId: `x${number}`, exitCode: 0, signal: null },
  update({ sessionUpdate: "tool_call_update", toolCallId: `t${number}`, status: "completed", title: `Ran ${number}` }),
  // An old call says something more when others have come after it.
  update({ sessionUpdate: "tool_call_update", toolCallId: "t0", locations: [{ path: `/${number}` }] }),
  { kind: "turn-end", stopReason: number % 3 === 0 ? "cancelled" : "end_turn" },
];

function update(it: Extract<PanelEvent, { kind: "update" }>["update"]): PanelEvent {
  return { kind: "update", update: it };
}

const events: readonly PanelEvent[] = [
  ...Array.from({ length: TURNS }, (_, number) => turn(number)).flat(),
  { kind: "rewind", position: 100 },
  ...turn(TURNS),
];

const oneByOne = (state: PanelState): PanelState => events.reduce((before, event) => reduce(before, event, 5), state);

test("a batch of events gives what they give one by one", () => {
  expect(reduceAll(emptyState, events, 5)).toEqual(oneByOne(emptyState));
});

test("a state that was handed on is never changed by a later batch", () => {
  const shown = reduceAll(emptyState, turn(0), 5);
  const before = structuredClone(shown);
  const next = reduceAll(shown, [...turn(1), ...turn(2)], 6);
  expect(next.entries.length).toBeGreaterThan(shown.entries.length);
  expect(shown).toEqual(before);
});

test("two batches that begin with the same state do not know of each other", () => {
  const shown = reduceAll(emptyState, turn(0), 5);
  const [one, other] = [reduceAll(shown, turn(1), 6), reduceAll(shown, turn(2), 6)];
  const tools = ({ entries }: PanelState) => entries.flatMap((entry) => (entry.type === "tool" ? [entry.title] : []));
  expect(tools(one)).toEqual(["Ran 0", "Ran 1"]);
  expect(tools(other)).toEqual(["Ran 0", "Ran 2"]);
  expect(tools(reduceAll(one, turn(3), 7))).toEqual(["Ran 0", "Ran 1", "Ran 3"]);
});
